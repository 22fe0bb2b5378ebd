const MAX_CHARACTERS = 80;

/** Quotes the start of a text, and escapes what a terminal hides, such as a BOM. */
export function excerpt(text: string): string {
  const start = JSON.stringify(text.slice(0, MAX_CHARACTERS));
  return start.replace(/[^ -~]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `\\u${hex.padStart(4, "0")}`;
  });
}
