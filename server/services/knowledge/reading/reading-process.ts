import { UnreadableDocument } from "./document-text.ts";
import { readSections } from "./read-sections.ts";

/** One document, on a process of its own that is ended when it takes too much: its bytes come in, what it says goes out. */
const pieces: Buffer[] = [];
for await (const piece of process.stdin) pieces.push(piece as Buffer);
let said: object;
try {
  said = { sections: await readSections(process.argv[2] ?? "", new Uint8Array(Buffer.concat(pieces))) };
} catch (error) {
  if (error instanceof UnreadableDocument) said = { reason: error.message };
  else if (error instanceof RangeError || /memory|allocat/i.test(String(error))) process.exit(70);
  else said = { reason: "It is damaged, or of another kind than its name says." };
}
process.stdout.write(JSON.stringify(said), () => process.exit(0));
