// From a map of where text is to boxes around its lines (the method of DB). The same as proa/ocr/boxes.py.

const TEXT = 0.3; // a pixel whose probability of being text is above this is text
const SMALLEST_SIDE = 3; // pixels of the map
const ELONGATED = 1.5; // a box longer than this many of its heights says by itself in which direction its text runs

/** A rectangle at any angle: centre (x, y), width along `direction` (dx, dy), height across it; y points down. */
export class Box {
  constructor(x, y, width, height, dx = 1, dy = 0) {
    Object.assign(this, { x, y, width, height, dx, dy });
  }

  /** Where the text begins on top, where it ends on top, where it ends below, where it begins below. */
  get corners() {
    const ax = (this.dx * this.width) / 2, ay = (this.dy * this.width) / 2;
    const bx = (-this.dy * this.height) / 2, by = (this.dx * this.height) / 2;
    return [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => [this.x + a * ax + b * bx, this.y + a * ay + b * by]);
  }

  get isElongated() {
    return Math.max(this.width, this.height) >= ELONGATED * Math.min(this.width, this.height);
  }

  /** As large as the text: networks mark lines smaller than they are, to keep neighbours apart. */
  grown(ratio) {
    const distance = (this.width * this.height) / (2 * (this.width + this.height)) * ratio;
    return new Box(this.x, this.y, this.width + 2 * distance, this.height + 2 * distance, this.dx, this.dy);
  }

  /** In the coordinates of the picture from which the map was made. */
  mapped(scale, left, top) {
    return new Box((this.x - left) / scale, (this.y - top) / scale, this.width / scale, this.height / scale, this.dx, this.dy);
  }

  /** The same rectangle, its text upside down. */
  turned() {
    return new Box(this.x, this.y, this.width, this.height, -this.dx, -this.dy);
  }

  /** The same rectangle, its text along the other side (clockwise). */
  quarterTurned() {
    return new Box(this.x, this.y, this.height, this.width, -this.dy, this.dx);
  }
}

/** Boxes around the lines of a map (an array, row by row) of probabilities, surer than `least`. */
export function findBoxes(probabilities, width, height, least = 0.5, grow = 1.6) {
  const found = [];
  for (const pixels of components(widened(probabilities, width, height), width, height)) {
    const box = around(hull(pixels));
    if (Math.min(box.width, box.height) < SMALLEST_SIDE || meanInside(probabilities, width, height, box) < least) continue;
    found.push(box.grown(grow));
  }
  return found;
}

/** What is text, a pixel wider to the right and below: that closes the gaps between the letters of a line. */
function widened(probabilities, width, height) {
  const mask = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      if (probabilities[at] <= TEXT) continue;
      mask[at] = 1;
      if (x + 1 < width) mask[at + 1] = 1;
      if (y + 1 < height) mask[at + width] = 1;
      if (x + 1 < width && y + 1 < height) mask[at + width + 1] = 1;
    }
  }
  return mask;
}

/** Pixels that hang together, each as a list of [x, y]: the leftmost and rightmost of each row, which is all a hull needs. */
function* components(mask, width, height) {
  for (let start = 0; start < mask.length; start++) {
    if (mask[start] !== 1) continue;
    const left = new Map(), right = new Map();
    const waiting = [start];
    mask[start] = 2;
    while (waiting.length) {
      const at = waiting.pop();
      const x = at % width, y = (at - x) / width;
      left.set(y, Math.min(left.get(y) ?? x, x));
      right.set(y, Math.max(right.get(y) ?? x, x));
      for (let dy = y ? -1 : 0; dy <= (y + 1 < height ? 1 : 0); dy++) {
        for (let dx = x ? -1 : 0; dx <= (x + 1 < width ? 1 : 0); dx++) {
          const next = at + dy * width + dx;
          if (mask[next] === 1) {
            mask[next] = 2;
            waiting.push(next);
          }
        }
      }
    }
    yield [...left].flatMap(([y, x]) => [[x, y], [right.get(y), y]]);
  }
}

/** The convex hull of points, around it once. */
function hull(points) {
  const sorted = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (order) => {
    const chain = [];
    for (const p of order) {
      while (chain.length > 1 && cross(chain[chain.length - 2], chain[chain.length - 1], p) <= 0) chain.pop();
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  const found = [...half(sorted), ...half(sorted.reverse())];
  return found.length ? found : [sorted[0]];
}

function cross(a, b, c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/** The smallest rectangle around a hull: one of its sides lies on one of the hull's. Its text runs to the right or down. */
function around(points) {
  let best = null;
  for (let i = 0; i < points.length; i++) {
    const [x0, y0] = points[i], [x1, y1] = points[(i + 1) % points.length];
    const length = Math.hypot(x1 - x0, y1 - y0);
    const dx = length ? (x1 - x0) / length : 1, dy = length ? (y1 - y0) / length : 0;
    let lowA = Infinity, highA = -Infinity, lowB = Infinity, highB = -Infinity;
    for (const [x, y] of points) {
      const a = x * dx + y * dy, b = y * dx - x * dy;
      lowA = Math.min(lowA, a), highA = Math.max(highA, a), lowB = Math.min(lowB, b), highB = Math.max(highB, b);
    }
    const area = (highA - lowA) * (highB - lowB);
    if (best && area >= best.area) continue;
    const a = (lowA + highA) / 2, b = (lowB + highB) / 2;
    best = { area, box: new Box(a * dx - b * dy, a * dy + b * dx, highA - lowA, highB - lowB, dx, dy) };
  }
  let { box } = best;
  const standing = box.isElongated ? box.height > box.width : Math.abs(box.dy) > Math.abs(box.dx);
  if (standing) box = box.quarterTurned();
  const backwards = Math.abs(box.dx) >= Math.abs(box.dy) ? box.dx < 0 : box.dy < 0;
  return backwards ? box.turned() : box;
}

/** How sure the network is of what lies in a box, on average. */
function meanInside(probabilities, width, height, box) {
  const xs = box.corners.map(([x]) => x), ys = box.corners.map(([, y]) => y);
  const clip = (value, high) => Math.max(0, Math.min(high, value));
  let sum = 0, count = 0;
  for (let y = clip(Math.floor(Math.min(...ys)), height - 1); y <= clip(Math.ceil(Math.max(...ys)), height - 1); y++) {
    for (let x = clip(Math.floor(Math.min(...xs)), width - 1); x <= clip(Math.ceil(Math.max(...xs)), width - 1); x++) {
      const a = (x - box.x) * box.dx + (y - box.y) * box.dy, b = (y - box.y) * box.dx - (x - box.x) * box.dy;
      if (Math.abs(a) > box.width / 2 + 0.5 || Math.abs(b) > box.height / 2 + 0.5) continue;
      sum += probabilities[y * width + x];
      count++;
    }
  }
  return count ? sum / count : 0;
}
