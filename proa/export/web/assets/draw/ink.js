// What was drawn, as a model trained on scanned digits has seen it: cut out, scaled to the same size, in the middle.

/** Ink (0 to 1) on a canvas of dark lines on white: { ink, width, height }. */
export function inkOf(canvas) {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const ink = new Float32Array(width * height);
  for (let i = 0; i < ink.length; i++) ink[i] = 1 - (data[4 * i] + data[4 * i + 1] + data[4 * i + 2]) / 765;
  return { ink, width, height };
}

/** The smallest rectangle with all ink, or null for an empty canvas. */
export function bounds({ ink, width, height }) {
  let left = width, right = -1, top = height, bottom = -1;
  for (let i = 0; i < ink.length; i++) {
    if (ink[i] < 0.1) continue;
    const x = i % width, y = (i - x) / width;
    left = Math.min(left, x), right = Math.max(right, x), top = Math.min(top, y), bottom = Math.max(bottom, y);
  }
  return right < 0 ? null : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * [rows, columns] of ink, averaged over cells. `share` is the part of the rows and of the columns that a drawing fills;
 * what is too wide is made smaller, or with `squeeze` only narrower.
 */
export function scaled(drawing, rows, columns, { share, squeeze }) {
  const result = new Float32Array(rows * columns);
  const box = bounds(drawing);
  if (!box) return result;
  const wide = Math.max(box.height / (rows * share[0]), box.width / (columns * share[1]));
  const high = squeeze ? box.height / (rows * share[0]) : wide;
  const left = box.left + box.width / 2 - (wide * columns) / 2;
  const top = box.top + box.height / 2 - (high * rows) / 2;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[row * columns + column] = meanOf(drawing, left + column * wide, top + row * high, wide, high);
    }
  }
  return result;
}

function meanOf({ ink, width, height }, x0, y0, wide, high) {
  let sum = 0, count = 0;
  for (let y = Math.round(y0); y < Math.round(y0 + high); y++) {
    for (let x = Math.round(x0); x < Math.round(x0 + wide); x++) {
      if (x >= 0 && y >= 0 && x < width && y < height) sum += ink[y * width + x];
      count++;
    }
  }
  return count ? sum / count : 0;
}

/** Numbers of any size as probabilities. */
export function softmax(values) {
  const high = Math.max(...values);
  const powers = Array.from(values, (value) => Math.exp(value - high));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((value) => value / sum);
}
