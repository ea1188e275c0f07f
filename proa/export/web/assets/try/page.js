// The page: inputs as JSON, results as JSON. How to use the model from your own page is in proa.js.

import { fetchText, load } from "./proa.js";

const inputs = document.getElementById("inputs");
const status = document.getElementById("status");
const results = document.getElementById("results");
const button = document.getElementById("run");

function say(text, failed = false) {
  status.textContent = text;
  status.classList.toggle("failed", failed);
}

const ARRAYS = { float32: Float32Array, float64: Float64Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array };

/** Nested lists as { data, shape }; { shape, fill } is an array of one number. */
function tensorOf(name, value, type) {
  if (value?.shape) {
    const size = value.shape.reduce((a, b) => a * b, 1);
    return { ...tensorOf(name, new Array(size).fill(value.fill ?? 0), type), shape: value.shape };
  }
  const shape = [];
  for (let part = value; Array.isArray(part); part = part[0]) shape.push(part.length);
  const flat = Array.isArray(value) ? value.flat(Infinity) : [value];
  if (flat.length !== shape.reduce((a, b) => a * b, 1) || !flat.every((x) => typeof x === "number")) {
    throw new Error(`${name} must be nested lists of numbers, all of one length`);
  }
  if (type === "int64") return { data: BigInt64Array.from(flat, (x) => BigInt(Math.trunc(x))), shape };
  if (!ARRAYS[type]) throw new Error(`${name} has the type ${type}, which this page cannot make`);
  return { data: ARRAYS[type].from(flat), shape };
}

function nested(data, shape) {
  if (!shape.length) return Number(data[0]);
  if (shape.length === 1) return Array.from(data, Number);
  const size = data.length / shape[0];
  return Array.from({ length: shape[0] }, (_, i) => nested(data.subarray(i * size, (i + 1) * size), shape.slice(1)));
}

const ready = fetchText("settings.json").then(async (text) => {
  const settings = JSON.parse(text);
  return { settings, model: await load(settings.model) };
});
ready.then(({ settings }) => {
  inputs.value = JSON.stringify(settings.example);
  button.disabled = false;
  say("Ready.");
}, (error) => say(String(error), true));

button.addEventListener("click", async () => {
  results.textContent = "";
  try {
    const { settings, model } = await ready;
    const given = JSON.parse(inputs.value);
    const feeds = {};
    for (const { name, type } of settings.inputs) {
      if (!(name in given)) throw new Error(`there is no input ${name}`);
      feeds[name] = tensorOf(name, given[name], type);
    }
    const started = performance.now();
    const found = await model.run(feeds);
    say(`${(performance.now() - started).toFixed(1)} ms.`);
    const plain = Object.entries(found).map(([name, { data, shape }]) => [name, nested(data, shape)]);
    results.textContent = JSON.stringify(Object.fromEntries(plain));
  } catch (error) {
    say(String(error), true);
  }
});
