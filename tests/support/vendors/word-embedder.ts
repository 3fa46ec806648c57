import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface WordEmbedder {
  readonly baseUrl: string;
  /** The texts of each request. */
  readonly asked: string[][];
  /** While set, the status that requests are answered with. */
  fails: number | null;
  /** Requests still answered before it fails; null: no limit. */
  failsAfter: number | null;
  stop(): Promise<void>;
}

const DIMENSIONS = 256;
/** Synonyms, which a word search cannot match. */
const MEANS: Readonly<Record<string, string>> = {
  automobile: "car",
  vehicle: "car",
  holiday: "vacation",
  leave: "vacation",
  pay: "salary",
};

/** A fake embedding model: each word is a direction, a text is the sum of its words, and synonyms share a direction. */
export async function startWordEmbedder(): Promise<WordEmbedder> {
  const asked: string[][] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { input } = JSON.parse(Buffer.concat(chunks).toString()) as { input: string | string[] };
      const texts = typeof input === "string" ? [input] : input;
      asked.push(texts);
      if (embedder.failsAfter !== null && embedder.failsAfter-- === 0) [embedder.fails, embedder.failsAfter] = [503, null];
      const { fails } = embedder;
      response.writeHead(fails ?? 200, { "content-type": "application/json" });
      const tokens = texts.join(" ").length;
      response.end(
        JSON.stringify(
          fails === null
            ? {
                object: "list",
                model: "words",
                data: texts.map((text, index) => ({ object: "embedding", index, embedding: vectorOf(text) })),
                usage: { prompt_tokens: tokens, total_tokens: tokens },
              }
            : { error: { message: "too busy", type: "server_error" } },
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const embedder: WordEmbedder = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    fails: null,
    failsAfter: null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return embedder;
}

function vectorOf(text: string): number[] {
  const sum = Array.from({ length: DIMENSIONS }, () => 0);
  for (const found of text.toLowerCase().match(/[a-z0-9]{3,}/g) ?? []) {
    const word = MEANS[found] ?? found;
    for (let part = 0; part < DIMENSIONS / 32; part++) {
      const digest = createHash("sha256").update(`${part} ${word}`).digest();
      for (let i = 0; i < 32; i++) sum[part * 32 + i] = (sum[part * 32 + i] ?? 0) + ((digest[i] ?? 0) - 127.5) / 127.5;
    }
  }
  return sum;
}
