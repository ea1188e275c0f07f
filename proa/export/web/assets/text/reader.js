// Reads text in pictures: finds lines, turns them upright, reads them. The same as proa/ocr/reader.py.

import { fetchText, load } from "./proa.js";
import { Box, findBoxes } from "./boxes.js";
import { decode, readCharacters } from "./decoding.js";
import { pageDirection, rowsOf } from "./ordering.js";
import { cut, fill, fit, pageOf, part, turnedBack, upsideDown } from "./pictures.js";

const TILTED = (8 * Math.PI) / 180;
const DOUBTFUL = 0.3; // a line that is this likely upside down is read both ways
const LEAST_CONFIDENCE = 0.5;
const HEIGHT = 48;
const CLASSIFIER_WIDTH = 192;
const WIDTHS = [320, 480, 640, 960, 1280, 1920, 2560, 3840];

/** The reader whose models lie beside this file, as settings.json says. */
export async function loadReader(settings) {
  const { detector, classifier, recogniser, characters } = settings;
  const [det, cls, rec, text] = await Promise.all([
    load(detector), classifier ? load(classifier) : null, load(recogniser), fetchText(characters),
  ]);
  return new Reader(det, cls, rec, readCharacters(text));
}

export class Reader {
  constructor(detector, classifier, recogniser, characters) {
    Object.assign(this, { detector, classifier, recogniser, characters });
  }

  /** { text, lines: [{ text, confidence, box }] } of an image, a bitmap or a canvas. */
  async read(picture) {
    const page = pageOf(picture);
    let lines = aligned(await this.detectTurned(page)).map((box) => ({ box, cut: cut(page, box) }));
    lines = await this.oriented(lines);
    for (const line of lines) {
      Object.assign(line, await this.readLine(line.cut));
      if (!line.doubtful) continue;
      const other = await this.readLine(upsideDown(line.cut));
      if (other.confidence > line.confidence) Object.assign(line, other, { box: line.box.turned() });
    }
    lines = lines
      .map(({ text, confidence, box }) => ({ text: text.trim(), confidence, box }))
      .filter(({ text, confidence }) => text && confidence >= LEAST_CONFIDENCE);
    const rows = rowsOf(lines.map((line) => line.box)).map((row) => row.map((number) => lines[number]));
    return { text: rows.map((row) => row.map((line) => line.text).join(" ")).join("\n"), lines: rows.flat() };
  }

  async detect(page) {
    const { data, width, height, scale, left, top } = fit(page);
    const probabilities = await runOne(this.detector, data, [1, 3, height, width]);
    return findBoxes(probabilities.data, width, height).map((box) => box.mapped(scale, left, top));
  }

  /** A page that is neither level nor upright is turned, and looked at again. */
  async detectTurned(page) {
    const boxes = await this.detect(page);
    const [dx, dy] = pageDirection(boxes);
    let tilt = Math.atan2(dy, dx);
    tilt -= Math.round(tilt / (Math.PI / 2)) * (Math.PI / 2);
    if (Math.abs(tilt) < TILTED) return boxes;
    const { canvas, back } = turnedBack(page, tilt);
    const cos = Math.cos(tilt), sin = Math.sin(tilt);
    return (await this.detect(canvas)).map((box) => {
      const [x, y] = back(box.x, box.y);
      return new Box(x, y, box.width, box.height, box.dx * cos - box.dy * sin, box.dx * sin + box.dy * cos);
    });
  }

  /** The lines turned as most of the page's are; `doubtful` is noted at those that seem to be otherwise. */
  async oriented(lines) {
    if (!this.classifier) return lines;
    let probabilities = [];
    for (const line of lines) probabilities.push(await this.probabilityOfUpsideDown(line.cut));
    const length = (some) => some.reduce((sum, line) => sum + line.box.width, 0);
    const flipped = lines.filter((_, number) => probabilities[number] > 0.5);
    if (lines.length > 2 && length(flipped) > 0.5 * length(lines)) {
      lines = lines.map((line) => ({ box: line.box.turned(), cut: upsideDown(line.cut) }));
      probabilities = probabilities.map((probability) => 1 - probability);
    }
    return lines.map((line, number) => ({ ...line, doubtful: probabilities[number] > DOUBTFUL }));
  }

  /** A long line is judged by parts that need not be squeezed. */
  async probabilityOfUpsideDown(line) {
    const width = Math.floor((line.height * CLASSIFIER_WIDTH) / HEIGHT);
    let pieces = [line];
    if (line.width > 1.5 * width) {
      const last = line.width - width;
      const starts = line.width <= 3 * width ? [0, last] : [0, Math.floor(last / 2), last];
      pieces = starts.map((start) => part(line, start, width));
    }
    let evidence = 0;
    for (const piece of pieces) {
      const data = fill(piece, HEIGHT, CLASSIFIER_WIDTH);
      const result = await runOne(this.classifier, data, [1, 3, HEIGHT, CLASSIFIER_WIDTH]);
      const probability = Math.min(1 - 1e-6, Math.max(1e-6, result.data[1]));
      evidence += Math.log(probability / (1 - probability));
    }
    return 1 / (1 + Math.exp(-evidence));
  }

  async readLine(line) {
    const wanted = (HEIGHT * line.width) / line.height;
    const width = WIDTHS.find((some) => some >= wanted) ?? WIDTHS[WIDTHS.length - 1];
    const { data, shape } = await runOne(this.recogniser, fill(line, HEIGHT, width), [1, 3, HEIGHT, width]);
    if (shape[2] !== this.characters.length) {
      throw new Error(`the recogniser tells ${shape[2]} classes apart, its characters are ${this.characters.length}`);
    }
    return decode(data, shape[1], this.characters);
  }
}

async function runOne(model, data, shape) {
  const results = await model.run({ [model.inputNames[0]]: { data, shape } });
  return results[model.outputNames[0]];
}

/** Boxes that are about square do not say how their text runs: it runs as most of the page's does. */
function aligned(boxes) {
  const [dx, dy] = pageDirection(boxes);
  return boxes.map((box) => {
    const standing = Math.abs(box.dy) > Math.abs(box.dx);
    if (box.isElongated || standing === Math.abs(dy) > Math.abs(dx)) return box;
    const turned = box.quarterTurned();
    return turned.dx < 0 ? turned.turned() : turned;
  });
}
