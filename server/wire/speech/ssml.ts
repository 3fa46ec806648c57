const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
/** Characters that XML forbids even when escaped. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

export interface Ssml {
  readonly text: string;
  readonly voice: string;
  /** Relative to the voice's normal speed; null keeps it. */
  readonly rate: number | null;
}

/** An SSML document that speaks the text; markup in the text is escaped. */
export function ssmlOf({ text, voice, rate }: Ssml): string {
  const spoken = rate === null ? escaped(text) : `<prosody rate="${rate}">${escaped(text)}</prosody>`;
  return (
    `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${languageOf(voice)}">` +
    `<voice name="${escaped(voice)}">${spoken}</voice></speak>`
  );
}

function escaped(text: string): string {
  return text.replace(FORBIDDEN, " ").replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** Voice names start with their language (`de-DE-KatjaNeural`). */
function languageOf(voice: string): string {
  return /^[a-z]{2,3}(?:-[A-Za-z]{4})?-(?:[A-Z]{2}|\d{3})(?=-)/.exec(voice)?.[0] ?? "en-US";
}
