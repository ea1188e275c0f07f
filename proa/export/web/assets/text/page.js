// The page: a picture comes by dropping, pasting or choosing; its text is shown below, boxes are drawn over it.

import { fetchText } from "./proa.js";
import { loadReader } from "./reader.js";

const status = document.getElementById("status");
const output = document.getElementById("text");
const canvas = document.getElementById("page");
const context = canvas.getContext("2d");

function say(text, failed = false) {
  status.textContent = text;
  status.classList.toggle("failed", failed);
}

const reader = fetchText("settings.json").then((text) => loadReader(JSON.parse(text)));
reader.then(() => say("Ready."), (error) => say(String(error), true));

async function read(blob) {
  output.textContent = "";
  try {
    say("Reading …");
    const picture = await createImageBitmap(blob).catch(() => {
      throw new Error("this is no picture that the browser can show");
    });
    canvas.width = picture.width;
    canvas.height = picture.height;
    context.drawImage(picture, 0, 0);
    const engine = await reader;
    const started = performance.now();
    const page = await engine.read(picture);
    draw(page.lines);
    output.textContent = page.text;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    say(page.lines.length ? `${page.lines.length} lines in ${seconds} s.` : `No text was found (${seconds} s).`);
  } catch (error) {
    say(String(error), true);
  }
}

function draw(lines) {
  context.lineWidth = Math.max(1, Math.max(canvas.width, canvas.height) / 500);
  lines.forEach(({ box }, number) => {
    context.beginPath();
    for (const [x, y] of box.corners) context.lineTo(x, y);
    context.closePath();
    context.strokeStyle = `hsl(${(number * 222.5) % 360} 90% 45%)`;
    context.fillStyle = `hsl(${(number * 222.5) % 360} 90% 45% / 0.2)`;
    context.fill();
    context.stroke();
  });
}

const drop = document.getElementById("drop");
document.getElementById("file").addEventListener("change", ({ target }) => {
  if (target.files[0]) read(target.files[0]);
  target.value = ""; // so that the same file, changed, can be chosen again
});
for (const kind of ["dragover", "dragenter"]) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
});
document.addEventListener("paste", (event) => event.clipboardData.files[0] && read(event.clipboardData.files[0]));
