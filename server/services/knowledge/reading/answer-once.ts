import { UnreadableDocument } from "./document-text.ts";

/**
 * Main function of a reading process, which handles one document: reads its bytes from stdin and writes the JSON result of `work` to
 * stdout.
 */
export async function answerOnce(work: (kind: string, content: Uint8Array) => Promise<object>): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  let reply: object;
  try {
    reply = await work(process.argv[2] ?? "", new Uint8Array(Buffer.concat(pieces)));
  } catch (error) {
    if (error instanceof UnreadableDocument) reply = { reason: error.message };
    else if (error instanceof RangeError || /memory|allocat/i.test(String(error))) process.exit(70);
    else reply = { reason: "It is damaged, or of another kind than its name says." };
  }
  process.stdout.write(JSON.stringify(reply), () => process.exit(0));
}
