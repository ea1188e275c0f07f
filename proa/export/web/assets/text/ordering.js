// The order in which one reads, however the page is turned. The same as proa/ocr/ordering.py.

/** In which direction most of the text runs: [dx, dy]. Long lines count more. */
export function pageDirection(boxes) {
  const elongated = boxes.filter((box) => box.isElongated);
  const quarters = [[0, 0], [0, 0], [0, 0], [0, 0]];
  for (const { dx, dy, width } of elongated.length ? elongated : boxes) {
    const quarter = Math.abs(dx) >= Math.abs(dy) ? (dx > 0 ? 0 : 2) : dy > 0 ? 1 : 3;
    quarters[quarter][0] += dx * width;
    quarters[quarter][1] += dy * width;
  }
  const [x, y] = quarters.reduce((best, next) => (Math.hypot(...next) > Math.hypot(...best) ? next : best));
  const length = Math.hypot(x, y);
  return length > 0 ? [x / length, y / length] : [1, 0];
}

/** The boxes' numbers, row by row. */
export function rowsOf(boxes) {
  if (!boxes.length) return [];
  const [dx, dy] = pageDirection(boxes);
  const depth = boxes.map((box) => box.y * dx - box.x * dy);
  const begins = boxes.map((box) => Math.min(...box.corners.map(([x, y]) => x * dx + y * dy)));
  const heights = boxes.map((box) => {
    const across = box.corners.map(([x, y]) => y * dx - x * dy);
    return Math.min(box.height, Math.max(...across) - Math.min(...across));
  });
  const mean = (row, values) => row.reduce((sum, number) => sum + values[number], 0) / row.length;
  const rows = [];
  for (const number of boxes.map((_, i) => i).sort((a, b) => depth[a] - depth[b])) {
    const last = rows[rows.length - 1];
    if (last && depth[number] - mean(last, depth) < 0.5 * Math.min(heights[number], mean(last, heights))) last.push(number);
    else rows.push([number]);
  }
  return rows.map((row) => row.sort((a, b) => begins[a] - begins[b]));
}
