import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const DIMENSIONS = 768;

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3ce5) ^ (hash >>> 13)) >>> 0;
}

/** Sums each word and its letter n-grams: words with similar spelling are close, and meaning plays no role. */
function vectorOfGrams(text: string): number[] {
  const sum = Array.from({ length: DIMENSIONS }, () => 0);
  const add = (what: string, weight: number) => {
    const hash = hashOf(what);
    const at = hash % DIMENSIONS;
    sum[at] = (sum[at] as number) + ((hash >>> 20) % 2 === 0 ? weight : -weight);
  };
  for (const word of text.toLowerCase().match(/[a-z]{3,}/g) ?? []) {
    add(word, 0.5);
    const padded = `<${word}>`;
    for (const length of [3, 4, 5])
      for (let at = 0; at + length <= padded.length; at++) add(padded.slice(at, at + length), 1 / word.length);
  }
  return sum;
}

/** A fake embedding model in which texts with common letter n-grams are close. */
export async function startGramEmbedder(): Promise<{ readonly baseUrl: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string | string[] };
      const data = [input].flat().map((text, index) => ({ object: "embedding", index, embedding: vectorOfGrams(text) }));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", model: "grams", data, usage: { prompt_tokens: 1, total_tokens: 1 } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
