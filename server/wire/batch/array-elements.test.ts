import { expect, test } from "bun:test";
import { ArrayElements } from "./array-elements.ts";

const MAX = 1_000;
const encoder = new TextEncoder();

async function read(pieces: AsyncIterable<Uint8Array>): Promise<string[]> {
  const elements: string[] = [];
  for await (const { text } of new ArrayElements("requests", MAX).read(pieces)) elements.push(new TextDecoder().decode(text));
  return elements;
}

async function* body(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield encoder.encode(text);
}

test("elements of a batch's JSON array are read with any whitespace between them", async () => {
  expect(await read(body('{"requests": [\n  {"a": 1},\n  ', ' {"b": [2, {}]}\n]}'))).toEqual(['{"a": 1}', '{"b": [2, {}]}']);
});

test.each([" ", "\n", "1,"])("a batch body without end between its elements is aborted: %j", async (endless) => {
  let given = 0;
  async function* never(): AsyncGenerator<Uint8Array> {
    yield encoder.encode('{"requests":[');
    for (; given < 1_000; given++) yield encoder.encode(endless.repeat(100));
  }
  await expect(read(never())).rejects.toThrow("piece of the rest is too long");
  expect(given).toBeLessThan(20);
});
