// Runs a model in the browser: ONNX Runtime Web (WebAssembly) does the arithmetic, from the folder `runtime`.
//
//   import { load } from "./proa.js";
//   const model = await load("model.onnx");
//   const { output_0 } = await model.run({ x: { data: new Float32Array(64), shape: [1, 1, 8, 8] } });

import * as ort from "./runtime/ort.wasm.min.mjs";

ort.env.wasm.wasmPaths = new URL("./runtime/", import.meta.url).href;
// Threads need shared memory, which browsers give only to pages that are served with COOP and COEP headers.
ort.env.wasm.numThreads = self.crossOriginIsolated ? Math.min(4, navigator.hardwareConcurrency || 1) : 1;

/** The bytes behind an address beside this file. */
export async function fetchBytes(address) {
  const answer = await fetch(new URL(address, import.meta.url));
  if (!answer.ok) throw new Error(`${address} cannot be had: the server answers ${answer.status} ${answer.statusText}`);
  return new Uint8Array(await answer.arrayBuffer());
}

export async function fetchText(address) {
  return new TextDecoder("utf-8").decode(await fetchBytes(address));
}

/** A model from an address beside this file. */
export async function load(address) {
  const bytes = await fetchBytes(address);
  return new Model(await ort.InferenceSession.create(bytes, { executionProviders: ["wasm"] }));
}

export class Model {
  constructor(session) {
    this.session = session;
    this.last = Promise.resolve(); // one run at a time: a session must not be entered twice
  }

  get inputNames() {
    return this.session.inputNames;
  }

  get outputNames() {
    return this.session.outputNames;
  }

  /** What is known of the inputs: [{ name, type, shape }]. */
  get inputs() {
    return this.session.inputMetadata ?? this.inputNames.map((name) => ({ name }));
  }

  /** Runs on { name: { data, shape } }, data being a typed array; gives the results in the same form. */
  async run(inputs) {
    const feeds = {};
    for (const name of this.inputNames) {
      if (!(name in inputs)) throw new Error(`the model has an input ${name}, and nothing was given for it`);
      const { data, shape } = inputs[name];
      feeds[name] = new ort.Tensor(typeOf(data), data, shape);
    }
    const turn = this.last.catch(() => {}).then(() => this.session.run(feeds));
    this.last = turn;
    const results = {};
    for (const [name, tensor] of Object.entries(await turn)) results[name] = { data: tensor.data, shape: tensor.dims };
    return results;
  }
}

const TYPES = {
  Float32Array: "float32", Float64Array: "float64", Int32Array: "int32", BigInt64Array: "int64", Uint8Array: "uint8",
  Int8Array: "int8",
};

function typeOf(data) {
  const type = TYPES[data?.constructor?.name];
  if (!type) throw new Error(`data must be a typed array (Float32Array, BigInt64Array …), not ${data?.constructor?.name}`);
  return type;
}
