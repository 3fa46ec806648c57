import { expect, test } from "bun:test";
import fc from "fast-check";
import { judgedStream } from "./judged-stream.ts";
import { RpcStream } from "./rpc-stream.ts";

const PROGRESS = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n';
const ANSWER = 'data: {"jsonrpc":"2.0","id":1,"re\\u0073ult":{"text":"secret"}}\n\n';

function inPieces(text: string, sizes: readonly number[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, at + size));
        at += size;
      }
      controller.close();
    },
  });
}

test("bytes stay unchanged, and each answer is judged before it is read, however the stream is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 8 }), fc.boolean(), async (sizes, whole) => {
      const sent = `${PROGRESS}${ANSWER}${PROGRESS}${ANSWER}`;
      const { body, verdicts } = judgedStream(inPieces(whole ? sent : sent.trimEnd(), sizes), async () => {
        await Promise.resolve();
        return '{"id":1,"result":{}}';
      });
      const codec = new RpcStream(null, ({ text }) => verdicts.get(text) ?? "nobody judged it");
      let passed = "";
      let out = "";
      for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
        passed += new TextDecoder().decode(piece);
        const given = codec.push(piece);
        if (given !== null) out += new TextDecoder().decode(given);
      }
      expect(passed).toBe(whole ? sent : sent.trimEnd());
      expect(out).not.toContain("secret");
      expect(out).not.toContain("nobody");
    }),
    { numRuns: 50 },
  );
});

test("a result with another ID is judged too, and a failing judge breaks off the stream", async () => {
  const other = '{"jsonrpc":"2.0","id":"1","result":{}}';
  const judged: string[] = [];
  const { body } = judgedStream(inPieces(`data: ${other}\n\n${ANSWER}`, []), async ({ text }) => {
    judged.push(text);
    if (text !== other) throw new Error("a judge that fails");
    return null;
  });
  const read = await new Response(body).text().then(
    (text) => text,
    () => "broken off",
  );
  expect(read).toBe("broken off");
  expect(judged).toHaveLength(2);
});

test("an event with a list of messages becomes one event per message, and each is judged", async () => {
  const judged: string[] = [];
  const { body } = judgedStream(
    inPieces(
      'event: message\nid: 4\ndata: [{"jsonrpc":"2.0","method":"m"},\ndata: {"jsonrpc":"2.0","id":1,"result":{"n":1.00000000000000000001}}]\n\ndata: []\n\n',
      [],
    ),
    async ({ text }) => {
      judged.push(text);
      return null;
    },
  );
  const answer = '{"jsonrpc":"2.0","id":1,"result":{"n":1.00000000000000000001}}';
  expect(await new Response(body).text()).toBe(
    `event: message\ndata: {"jsonrpc":"2.0","method":"m"}\n\nevent: message\nid: 4\ndata: ${answer}\n\ndata: []\n\n`,
  );
  expect(judged).toEqual([answer]);
});

test.each([
  '{"jsonrpc":"2.0","id":1,"result":{"text":"secret","n":NaN}}',
  '[[{"id":1,"result":{"text":"secret"}}]]',
  '[{"result":"secret","n":NaN}]',
])("a message that only some clients can read is not judged but dropped: %s", async (data) => {
  const { body } = judgedStream(inPieces(`${PROGRESS}id: 1\ndata: ${data}\n\ndata: ping\n\n`, []), async () => null);
  const read = await new Response(body).text();
  expect(read).not.toContain("secret");
  expect(read.startsWith(PROGRESS) && read.endsWith("data: ping\n\n")).toBe(true);
});
