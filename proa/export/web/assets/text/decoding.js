// What the recogniser's steps say (CTC). The same as proa/ocr/recognising.py.

// How much probability of a space there is between two letters, over all steps, where there is one; and beside other signs.
const SPACE = 0.04, SPACE_BESIDE_SIGNS = 0.2;
const FIRST_IDEOGRAPH = 0x2e80; // Unicode has the scripts of East Asia from here on

/** The recogniser's classes: nothing (CTC's blank), the characters of a file with one a line, a space. */
export function readCharacters(text) {
  const lines = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
  return ["", ...lines, " "];
}

/** [steps, classes] as { text, confidence }: the likeliest class of each step, repetitions merged, blanks left out. */
export function decode(probabilities, steps, characters) {
  const classes = characters.length;
  let text = "", total = 0, count = 0, before = 0, space = 0;
  for (let step = 0; step < steps; step++) {
    const row = step * classes;
    let best = 0;
    for (let k = 1; k < classes; k++) if (probabilities[row + k] > probabilities[row + best]) best = k;
    if (best !== 0 && best !== before) {
      if (text && space >= leastChance(text[text.length - 1], characters[best])) text += " ";
      text += characters[best];
      total += probabilities[row + best];
      count++;
      space = 0;
    } else {
      space += probabilities[row + classes - 1];
    }
    before = best;
  }
  return { text, confidence: count ? total / count : 0 };
}

/** How likely a space must be to stand between two characters: beside Chinese ones, and beside a space, it never is. */
function leastChance(before, after) {
  if (before === " " || after === " ") return Infinity;
  if (Math.max(before.codePointAt(0), after.codePointAt(0)) >= FIRST_IDEOGRAPH) return Infinity;
  const letter = /^[\p{L}\p{N}]$/u;
  return letter.test(before) && letter.test(after) ? SPACE : SPACE_BESIDE_SIGNS;
}
