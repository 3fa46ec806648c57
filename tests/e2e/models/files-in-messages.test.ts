import { afterAll, beforeAll, expect, test } from "bun:test";
import { toFile } from "openai";
import { rowOf } from "../../support/worlds/admin.ts";
import { type Caller, type GuardedWorld, startGuardedWorld } from "../../support/worlds/guarded-world.ts";

/** Stored files that messages refer to: each provider gets them in its own form, under the caller's permissions. */

let world: GuardedWorld;
let caller: Caller;
let stranger: Caller;
let redacting: Caller;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PDF = "%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n";

beforeAll(async () => {
  world = await startGuardedWorld();
  caller = await world.caller("readers", async () => undefined);
  stranger = await world.caller("strangers", async () => undefined);
  redacting = await world.caller("redacting", async (groupId) => {
    await world.admin.post("/v1/admin/guardrails/configs", {
      tenant_id: "default",
      name: "redactor",
      group_ids: [groupId],
      surfaces: { chat_input: true },
      builtin: { pii_enabled: true, pii_action: "redact" },
    });
  });
});
afterAll(() => world.end());

const store = async ({ openai }: Caller, content: Uint8Array | string, name: string) =>
  (await openai.files.create({ purpose: "user_data", file: await toFile(Buffer.from(content as string), name) })).id;

const sent = () => JSON.parse(world.vendor.seen.at(-1)?.body as string);
const pdf64 = Buffer.from(PDF).toString("base64");

/** The refusal of a message with these parts. */
async function refused(content: { type: "file"; file: { file_id: string } }[]) {
  const asked = caller.openai.chat.completions.create({ model: "openai-plain", messages: [{ role: "user", content }] });
  return asked.then(
    () => null,
    ({ status, error }: { status: number; error: unknown }) => ({ status, error }),
  );
}

test("an image, a document and a text file in a chat completion reach OpenAI, Anthropic and Google in their own formats", async () => {
  const picture = await store(caller, Buffer.from(PIXEL, "base64"), "dot.png");
  const paper = await store(caller, PDF, "paper.pdf");
  const note = await store(caller, "Meet at noon.", "note.txt");
  const named = [picture, paper, note].map((file_id) => ({ type: "file" as const, file: { file_id } }));
  const ask = (model: string) =>
    caller.openai.chat.completions
      .create({ model, messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, ...named] }] })
      .withResponse();

  const { response } = await ask("openai-plain");
  expect(sent().messages[0].content).toEqual([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    { type: "file", file: { filename: "paper.pdf", file_data: `data:application/pdf;base64,${pdf64}` } },
    { type: "text", text: "Meet at noon." },
  ]);
  const row = await rowOf(world.admin, { id: response.headers.get("x-request-id") });
  expect(row.custom_metadata.files.map(({ id }: { id: string }) => id)).toEqual([picture, paper, note]);

  await ask("anthropic-plain");
  expect(sent().messages[0].content).toMatchObject([
    { type: "text" },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
    { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf64 } },
    { type: "text", text: "Meet at noon." },
  ]);
  await ask("gemini-plain");
  expect(sent().contents[0].parts).toMatchObject([
    { text: "What is this?" },
    { inlineData: { mimeType: "image/png", data: PIXEL } },
    { inlineData: { mimeType: "application/pdf", data: pdf64 } },
    { text: "Meet at noon." },
  ]);
});

test("Responses, Messages and Google clients refer to files in their own formats", async () => {
  const paper = await store(caller, PDF, "paper.pdf");
  await caller.openai.responses.create({
    model: "openai-responses-plain",
    input: [{ role: "user", content: [{ type: "input_file", file_id: paper }] }],
  });
  expect(sent().input[0].content).toEqual([
    { type: "input_file", filename: "paper.pdf", file_data: `data:application/pdf;base64,${pdf64}` },
  ]);
  await caller.anthropic.beta.messages.create({
    model: "anthropic-plain",
    max_tokens: 10,
    messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: paper } }] }],
  });
  expect(sent().messages[0].content).toEqual([
    { type: "document", title: "paper.pdf", source: { type: "base64", media_type: "application/pdf", data: pdf64 } },
  ]);
  await caller.google.models.generateContent({
    model: "gemini-plain",
    contents: [{ role: "user", parts: [{ fileData: { fileUri: paper, mimeType: "application/pdf" } }] }],
  });
  expect(sent().contents[0].parts).toEqual([{ inlineData: { mimeType: "application/pdf", data: pdf64 } }]);
});

test("another caller's, a deleted and an unknown file get the same 404, and nothing is sent upstream", async () => {
  const theirs = await store(stranger, "their plans", "plans.txt");
  const gone = await store(caller, "gone plans", "gone.txt");
  await caller.openai.files.delete(gone);
  const before = world.vendor.seen.length;
  for (const file_id of [theirs, gone, "file-01K9ZXCVBNM0123456789ABCDE"]) {
    expect(await refused([{ type: "file", file: { file_id } }])).toEqual({
      status: 404,
      error: "There is no such file. `messages[0].content[0].file.file_id` names no file of the caller's.",
    });
  }
  expect(world.vendor.seen).toHaveLength(before);
});

test("guardrails inspect the text of referenced files", async () => {
  const note = await store(redacting, "Write to joe@example.com today.", "note.txt");
  await redacting.openai.chat.completions.create({
    model: "openai-plain",
    messages: [{ role: "user", content: [{ type: "file", file: { file_id: note } }] }],
  });
  expect(sent().messages[0].content[0].text).toBe("Write to [REDACTED:email] today.");
  await redacting.openai.responses.create({
    model: "openai-responses-plain",
    input: [{ role: "user", content: [{ type: "input_file", file_id: note }] }],
  });
  const [, base64] = sent().input[0].content[0].file_data.split(",");
  expect(Buffer.from(base64, "base64").toString()).toBe("Write to [REDACTED:email] today.");
});

test("files too large for one request are refused before they are read", async () => {
  const large = await store(caller, Buffer.alloc(11 * 1024 * 1024, "words "), "large.txt");
  const content = [large, large].map((file_id) => ({ type: "file" as const, file: { file_id } }));
  const before = world.vendor.seen.length;
  expect(await refused(content)).toMatchObject({ status: 413, error: expect.stringContaining("20 MiB") });
  expect(world.vendor.seen).toHaveLength(before);
});

test("a referenced text counts against token limits like an inline text", async () => {
  const bounded = await world.caller("bounded", async (groupId) => {
    const limits = { llm_global_limits: { tokens: { daily_limit: 20_000 } } };
    await world.admin.request("PATCH", `/v1/admin/resource-groups/${groupId}/llm-global-limits`, limits);
  });
  const ask = async (file_id: string) =>
    bounded.openai.chat.completions
      .create({ model: "openai-plain", max_tokens: 10, messages: [{ role: "user", content: [{ type: "file", file: { file_id } }] }] })
      .then(
        () => 200,
        ({ status }: { status: number }) => status,
      );
  const note = await store(bounded, "Meet at noon.", "note.txt");
  expect(await ask(note)).toBe(200);
  const book = await store(bounded, "Once upon a time there was an otter. ".repeat(30_000), "book.txt");
  const before = world.vendor.seen.length;
  expect([await ask(book), world.vendor.seen.length]).toEqual([429, before]);
});
