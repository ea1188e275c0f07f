// Pictures put on canvases, lines cut out of them. The same as proa/ocr/detecting.py and cutting.py.

const SIDES = [320, 480, 640, 800, 960, 1280, 1600]; // of what the detector sees: multiples of 32, and few
const MARGIN = 16; // letters at the very edge of a small picture would not be found
const MEAN = [0.485, 0.456, 0.406], DEVIATION = [0.229, 0.224, 0.225];

function canvasOf(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  return { canvas, context };
}

/** Any picture (an image, a bitmap, a canvas) as a canvas, on white where it is transparent. */
export function pageOf(picture) {
  const { canvas, context } = canvasOf(picture.naturalWidth ?? picture.width, picture.naturalHeight ?? picture.height);
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0);
  return canvas;
}

/** The page turned anticlockwise by an angle, on a canvas that holds all of it; and the way back for a point. */
export function turnedBack(page, angle) {
  const cos = Math.cos(angle), sin = Math.sin(angle), { width, height } = page;
  const wide = Math.round(width * Math.abs(cos) + height * Math.abs(sin));
  const high = Math.round(width * Math.abs(sin) + height * Math.abs(cos));
  const { canvas, context } = canvasOf(wide, high);
  context.fillStyle = edgeColour(page);
  context.fillRect(0, 0, wide, high);
  const e = wide / 2 - (cos * width + sin * height) / 2, f = high / 2 - (-sin * width + cos * height) / 2;
  context.setTransform(cos, -sin, sin, cos, e, f);
  context.drawImage(page, 0, 0);
  const back = (x, y) => [cos * (x - e) - sin * (y - f), sin * (x - e) + cos * (y - f)];
  return { canvas, back };
}

/** The page in the middle of a canvas of one of a few sizes, as the detector wants it: { data, width, height, scale, … }. */
export function fit(page, longestSide = 960) {
  const scale = Math.min(1, longestSide / Math.max(page.width, page.height));
  const size = [page.width, page.height].map((length) => Math.max(1, Math.round(length * scale)));
  const [width, height] = size.map(sideOf);
  const left = Math.floor((width - size[0]) / 2), top = Math.floor((height - size[1]) / 2);
  const { context } = canvasOf(width, height);
  context.fillStyle = edgeColour(page);
  context.fillRect(0, 0, width, height);
  context.drawImage(page, left, top, size[0], size[1]);
  const pixels = context.getImageData(0, 0, width, height).data;
  // In the order blue, green, red, as PP-OCR's detectors were trained.
  const data = new Float32Array(3 * width * height);
  for (let channel = 0; channel < 3; channel++) {
    for (let i = 0; i < width * height; i++) {
      data[channel * width * height + i] = (pixels[4 * i + 2 - channel] / 255 - MEAN[channel]) / DEVIATION[channel];
    }
  }
  return { data, width, height, scale, left, top };
}

function sideOf(length) {
  const wanted = length < SIDES[0] ? length + 2 * MARGIN : length;
  return SIDES.find((side) => side >= wanted) ?? Math.ceil(wanted / 32) * 32;
}

/** The colour of most of the page's edge, so that what is put around the page is no edge of its own. */
function edgeColour(page) {
  const context = page.getContext("2d", { willReadFrequently: true });
  const { width, height } = page;
  const strips = [[0, 0, width, 1], [0, height - 1, width, 1], [0, 0, 1, height], [width - 1, 0, 1, height]];
  const values = [[], [], []];
  for (const strip of strips) {
    const { data } = context.getImageData(...strip);
    for (let i = 0; i < data.length; i++) if (i % 4 < 3) values[i % 4].push(data[i]);
  }
  const median = values.map((list) => list.sort((a, b) => a - b)[list.length >> 1]);
  return `rgb(${median.join(" ")})`;
}

/** What lies in a box, its text running to the right, as a canvas of its size. */
export function cut(page, box) {
  const width = Math.max(1, Math.round(box.width)), height = Math.max(1, Math.round(box.height));
  const { canvas, context } = canvasOf(width, height);
  context.fillStyle = "white";
  context.fillRect(0, 0, width, height);
  const [[x, y]] = box.corners;
  const { dx, dy } = box;
  context.setTransform(dx, -dy, dy, dx, -(dx * x + dy * y), dy * x - dx * y);
  context.drawImage(page, 0, 0);
  return canvas;
}

export function upsideDown(line) {
  const { canvas, context } = canvasOf(line.width, line.height);
  context.setTransform(-1, 0, 0, -1, line.width, line.height);
  context.drawImage(line, 0, 0);
  return canvas;
}

/** A part of a line, from one column to another. */
export function part(line, start, width) {
  const { canvas, context } = canvasOf(width, line.height);
  context.drawImage(line, -start, 0);
  return canvas;
}

/** [3, height, width] in the order blue, green, red, from -1 to 1; the line begins at the left, zeros follow it. */
export function fill(line, height, width) {
  const scaled = Math.min(width, Math.max(1, Math.ceil((line.width * height) / line.height)));
  const { context } = canvasOf(scaled, height);
  context.drawImage(line, 0, 0, scaled, height);
  const pixels = context.getImageData(0, 0, scaled, height).data;
  const data = new Float32Array(3 * height * width);
  for (let channel = 0; channel < 3; channel++) {
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < scaled; x++) {
        data[(channel * height + y) * width + x] = pixels[4 * (y * scaled + x) + 2 - channel] / 127.5 - 1;
      }
    }
  }
  return data;
}
