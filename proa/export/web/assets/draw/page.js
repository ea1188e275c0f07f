// The page: what is drawn is classified at the end of each stroke.

import { fetchText, load } from "./proa.js";
import { bounds, inkOf, scaled, softmax } from "./ink.js";

const pad = document.getElementById("pad");
const status = document.getElementById("status");
const answer = document.getElementById("answer");
const probabilities = document.getElementById("probabilities");
let last = null, pen = pad.width / 10;
const context = pad.getContext("2d", { willReadFrequently: true });

function say(text, failed = false) {
  status.textContent = text;
  status.classList.toggle("failed", failed);
}

function clear() {
  context.fillStyle = "white";
  context.fillRect(0, 0, pad.width, pad.height);
  answer.textContent = probabilities.textContent = "";
}

const ready = fetchText("settings.json").then(async (text) => {
  const settings = JSON.parse(text);
  return { settings, model: await load(settings.model) };
});
ready.then(({ settings }) => {
  pen = settings.pen * pad.width;
  say("Ready.");
}, (error) => say(String(error), true));

async function classify() {
  const drawing = inkOf(pad);
  if (!bounds(drawing)) return;
  try {
    const { settings, model } = await ready;
    const { input, shape, labels } = settings;
    const [rows, columns] = shape.slice(-2);
    const results = await model.run({ [input]: { data: scaled(drawing, rows, columns, settings), shape } });
    show(softmax(results[model.outputNames[0]].data), labels);
    say("Ready.");
  } catch (error) {
    say(String(error), true);
  }
}

function show(values, labels) {
  const order = values.map((_, number) => number).sort((a, b) => values[b] - values[a]);
  answer.textContent = labels[order[0]] ?? order[0];
  probabilities.replaceChildren(...order.slice(0, 5).map((number) => {
    const bar = document.createElement("div");
    bar.className = "bar";
    const [name, length, percent] = ["span", "i", "span"].map((tag) => bar.appendChild(document.createElement(tag)));
    name.textContent = labels[number] ?? number;
    length.style.width = `${values[number] * 100}%`;
    percent.textContent = `${Math.round(values[number] * 100)} %`;
    return bar;
  }));
}

const place = (event) => [
  (event.offsetX * pad.width) / pad.clientWidth, (event.offsetY * pad.height) / pad.clientHeight,
];
pad.addEventListener("pointerdown", (event) => {
  pad.setPointerCapture(event.pointerId);
  last = place(event);
  stroke(last);
});
pad.addEventListener("pointermove", (event) => last && stroke(place(event)));
for (const kind of ["pointerup", "pointercancel"]) {
  pad.addEventListener(kind, () => {
    if (last) classify();
    last = null;
  });
}
document.getElementById("clear").addEventListener("click", clear);

function stroke(point) {
  context.lineWidth = pen;
  context.lineCap = context.lineJoin = "round";
  context.strokeStyle = "black";
  context.beginPath();
  context.moveTo(...last);
  context.lineTo(...point);
  context.stroke();
  last = point;
}

clear();
