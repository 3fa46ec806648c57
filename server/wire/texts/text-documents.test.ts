import { describe, expect, test } from "bun:test";
import { readGeminiRequest } from "../gemini/gemini-request.ts";
import type { InboundRequest } from "../inbound.ts";
import { readMessagesRequest } from "../messages/messages-request.ts";
import { readChatRequest } from "../openai/chat/request.ts";
import { readResponsesRequest } from "../responses/responses-request.ts";

const UNCHANGED = { model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const bytes = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");

function read(request: InboundRequest | { readonly fields: unknown }): InboundRequest {
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}

/** The texts of the request, and its body after the word `secret` is replaced in each. */
function guarded(request: InboundRequest): { texts: string[]; out: any } {
  const texts = request.texts().map((slot) => {
    const { text } = slot;
    if (text.includes("secret")) slot.replace(text.replaceAll("secret", "***"));
    return slot.kind === "name" ? `name ${text}` : text;
  });
  return { texts, out: JSON.parse(request.outbound(UNCHANGED)) };
}

const chatWith = (...files: object[]) =>
  read(
    readChatRequest(
      bytes({
        model: "m",
        messages: [{ role: "user", content: [...files.map((file) => ({ type: "file", file })), { type: "text", text: "Read it." }] }],
      }),
    ),
  );
const fileIn = ({ out }: { out: any }, at = 0) => out.messages[0].content[at].file;

test("a text file of a chat request is a text, whatever tells that it is one", () => {
  const head = "data:text/markdown;charset=utf-8;base64,";
  const urls = guarded(
    chatWith(
      { filename: "a", file_data: head + base64("größte secret") },
      { filename: "b", file_data: "data:application/ld+json,%7B%22a%22:%22secret%22%7D" },
      { filename: "c.CSV", file_data: base64("a;secret") },
      { filename: "d.log", file_data: `data:application/octet-stream;base64,${base64("secret")}` },
    ),
  );
  expect(urls.texts.filter((text) => !text.startsWith("name "))).toEqual([
    "größte secret",
    '{"a":"secret"}',
    "a;secret",
    "secret",
    "Read it.",
  ]);
  expect([0, 1, 2, 3].map((at) => fileIn(urls, at).file_data)).toEqual([
    head + base64("größte ***"),
    `data:application/ld+json;base64,${base64('{"a":"***"}')}`,
    base64("a;***"),
    `data:application/octet-stream;base64,${base64("***")}`,
  ]);
});

test("base64 that decoders read differently is looked at as each of them has it", () => {
  const secret = base64("secret of mine");
  const [padded, dashed] = [`${secret.slice(0, 2)}=${secret.slice(2)}`, `${secret.slice(0, 4)}-${secret.slice(4)}`];
  for (const encoded of [padded, `=${secret}`, dashed, dashed.replace("-", "_")]) {
    const type = "data:text/plain; base64,";
    for (const file of [
      { filename: "a.txt", file_data: encoded },
      { filename: "b", file_data: encoded },
      { filename: "c", file_data: type + encoded },
      { filename: "c", file_data: type + encodeURIComponent(encoded).replace("-", "%2D") },
    ]) {
      const { texts, out } = guarded(chatWith(file));
      expect(texts).toContain("secret of mine");
      expect(fileIn({ out }).file_data.replace(/.*,/, "")).toBe(base64("*** of mine"));
    }
  }
  // The URL-safe base64 alphabet, which Google's client uses.
  const said = "a secret >>>?";
  expect(Buffer.from(said).toString("base64url")).toMatch(/[-_]/);
  const { out } = guarded(chatWith({ filename: "d.txt", file_data: Buffer.from(said).toString("base64url") }));
  expect(fileIn({ out }).file_data).toBe(base64("a *** >>>?"));
});

test("other files are no texts and pass as they came", () => {
  const files = [
    { filename: "a.pdf", file_data: `data:application/pdf;base64,${base64("secret")}` },
    { filename: "b.txt", file_id: "file-1" },
    { filename: "b", file_data: Buffer.from([0x73, 0xff, 0x00, 0x73]).toString("base64") },
    { filename: "a.txt", file_data: `data:image/png;base64,${base64("secret")}` },
  ];
  const { texts, out } = guarded(chatWith(...files));
  expect(texts).toEqual(["name a.pdf", "name b.txt", "name b", "name a.txt", "Read it."]);
  expect(files.map((_file, at) => fileIn({ out }, at))).toEqual(files);
});

test("a file that nobody says the kind of is a text where its bytes are", () => {
  const files = [
    { filename: "prod.env", file_data: `data:application/octet-stream;base64,${base64("KEY=secret")}` },
    { filename: "tls.pem", file_data: `data:application/x-pem-file,KEY%3Dsecret` },
    { filename: "main.tf", file_data: base64(`${"größe ".repeat(2_000)}secret`) },
  ];
  const { texts, out } = guarded(chatWith(...files));
  expect(texts.filter((text) => text.endsWith("secret")).map((text) => text.slice(-8))).toEqual(["Y=secret", "Y=secret", "e secret"]);
  expect(JSON.stringify(out)).not.toContain(base64("KEY=secret"));
  expect(fileIn({ out }, 0).file_data).toBe(`data:application/octet-stream;base64,${base64("KEY=***")}`);
  const gemini = read(
    readGeminiRequest(
      bytes({
        contents: [{ parts: [{ inlineData: { mimeType: "application/octet-stream", data: base64("secret") } }, { text: "Read it." }] }],
      }),
      { model: "m", method: "generateContent" } as never,
    ),
  );
  expect(guarded(gemini).texts).toEqual(["secret", "Read it."]);
});

test("what a file is called is looked at, whatever the file is", () => {
  const pdf = `data:application/pdf;base64,${base64("x")}`;
  expect(fileIn(guarded(chatWith({ filename: "secret.pdf", file_data: pdf }))).filename).toBe("***.pdf");
  const gemini = (blob: object) =>
    guarded(
      read(
        readGeminiRequest(bytes({ contents: [{ parts: [blob, { text: "Read it." }] }] }), {
          model: "m",
          method: "generateContent",
        } as never),
      ),
    );
  for (const name of ["displayName", "display_name"]) {
    const { out } = gemini({ inlineData: { mimeType: "application/pdf", data: base64("x"), [name]: "secret.pdf" } });
    expect(out.contents[0].parts[0].inlineData[name]).toBe("***.pdf");
  }
});

test("the text files of a Responses request are texts, in tool results too, and whoever spoke last stays last", () => {
  const file = { type: "input_file", filename: "notes.txt", file_data: `data:text/plain;base64,${base64("secret")}` };
  const request = read(
    readResponsesRequest(
      bytes({
        model: "m",
        input: [
          { role: "user", content: [file] },
          { type: "function_call_output", call_id: "c", output: [file, { type: "input_text", text: "done" }] },
        ],
      }),
    ),
  );
  expect(request.texts().at(-1)).toMatchObject({ role: "tool", text: "done" });
  const { texts, out } = guarded(request);
  expect(texts).toEqual(["name notes.txt", "secret", "name notes.txt", "secret", "done"]);
  for (const held of [out.input[0].content[0], out.input[1].output[0]])
    expect(held).toEqual({ ...file, file_data: `data:text/plain;base64,${base64("***")}` });
});

test("a text document in base64 of a Messages request is a text", () => {
  const source = { type: "base64", media_type: "text/csv", data: base64("secret") };
  const { texts, out } = guarded(
    read(
      readMessagesRequest(
        bytes({
          model: "m",
          max_tokens: 1,
          messages: [
            {
              role: "user",
              content: [
                { type: "document", source },
                { type: "document", source: { ...source, media_type: "application/pdf" } },
              ],
            },
          ],
        }),
        { maxTokensRequired: true },
      ),
    ),
  );
  expect(texts).toEqual(["secret"]);
  expect(out.messages[0].content.map(({ source: { data } }: any) => data)).toEqual([base64("***"), base64("secret")]);
});

test("what a hosted tool server is said to be is a word of a definition", () => {
  const request = read(
    readResponsesRequest(
      bytes({
        model: "m",
        input: "hi",
        tools: [{ type: "mcp", server_label: "s", server_url: "https://s.example", server_description: "Says secret things." }],
      }),
    ),
  );
  expect(request.definitions().map(({ text }) => text)).toEqual(["Says secret things."]);
});

test("a text file is a text wherever another format would find one: in an address, in the place of a picture, by its name", () => {
  const url = `data: text/plain;base64,${base64("secret")}`;
  const without = `data: text/plain;base64,${base64("***")}`;
  const parts = [
    { type: "image_url", image_url: { url } },
    { type: "image_url", image_url: url.toUpperCase().slice(0, 24) + base64("secret") },
    { type: "file", file: { filename: "a.txt", file_data: `data:application/x-unheard;base64,${base64("secret")}` } },
    { type: "image_url", image_url: { url: "https://example.com/secret.txt" } },
    { type: "image_url", image_url: { url: `data:;base64,${base64("secret")}` } },
    { type: "image_url", image_url: { url: "data:image/svg+xml;utf8,<text>secret</text>" } },
  ];
  const chat = guarded(read(readChatRequest(bytes({ model: "m", messages: [{ role: "user", content: parts }] }))));
  expect(chat.texts).toEqual(["secret", "secret", "name a.txt", "secret", "secret", "<text>secret</text>"]);
  expect(chat.out.messages[0].content[0].image_url.url).toBe(without);

  const responses = guarded(
    read(
      readResponsesRequest(
        bytes({
          model: "m",
          input: [
            {
              role: "user",
              content: [
                { type: "input_image", image_url: url },
                { type: "input_file", file_url: url },
              ],
            },
          ],
        }),
      ),
    ),
  );
  expect(responses.texts).toEqual(["secret", "secret"]);
  expect(responses.out.input[0].content).toEqual([
    { type: "input_image", image_url: without },
    { type: "input_file", file_url: without },
  ]);

  const data = base64("secret");
  const blocks = [
    { type: "image", source: { type: "base64", media_type: "text/plain", data } },
    { type: "document", source: { type: "base64", media_type: " text/plain", data } },
    { type: "document", title: "n.txt", source: { type: "base64", data } },
    { type: "document", source: { type: "url", url } },
  ];
  const pictures = [
    { type: "image", source: { type: "base64", media_type: "image/png", data } },
    { type: "image", source: { type: "url", url: "https://example.com/secret" } },
  ];
  const messages = guarded(
    read(
      readMessagesRequest(bytes({ model: "m", max_tokens: 1, messages: [{ role: "user", content: [...blocks, ...pictures] }] }), {
        maxTokensRequired: true,
      }),
    ),
  );
  expect(messages.texts).toEqual(["secret", "secret", "n.txt", "secret", "secret"]);
  expect(messages.out.messages[0].content.slice(4)).toEqual(pictures);

  const files = [
    { inlineData: { displayName: "n.txt", data } },
    { inlineData: { displayName: "n.txt", mimeType: "application/octet-stream", data } },
    { inline_data: { mime_type: " text/plain", data } },
    { fileData: { fileUri: url } },
    { inlineData: { displayName: "n.txt", mimeType: "image/png", data } },
  ];
  const gemini = guarded(read(readGeminiRequest(bytes({ contents: [{ parts: files }] }), { model: "m", stream: false })));
  expect(gemini.texts.filter((text) => text !== "name n.txt")).toEqual(["secret", "secret", "secret", "secret"]);
  expect(gemini.out.contents[0].parts[3]).toEqual({ fileData: { fileUri: without } });
});

describe("a text file cannot be written so that only its reader finds it", () => {
  const escaped = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  test.each([
    ["an escape that is none behind it", { image_url: { url: "data:text/plain,se%63ret%" } }, "secret%"],
    ["bytes that are no UTF-8 before it", { image_url: { url: "data:text/plain,caf%E9 se%63ret" } }, "caf\ufffd secret"],
    ["base64 that is escaped whole", { file: { file_data: `data:text/plain;base64,${escaped(base64("secret"))}` } }, "secret"],
    ["the form of another vendor", { source: { type: "base64", media_type: "text/plain", data: base64("secret") } }, "secret"],
    ["the form of a third", { inlineData: { mimeType: "text/plain", data: base64("secret") } }, "secret"],
  ])("%s", (_name, part, text) => {
    const content = [{ type: "file", ...part }];
    const chat = guarded(read(readChatRequest(bytes({ model: "m", messages: [{ role: "user", content }] }))));
    expect(chat.texts).toEqual([text]);
    expect(JSON.stringify(chat.out)).toContain(base64(text.replace("secret", "***")));
  });
});

test("a text file counts with what a request says, by what is left of it", () => {
  const text = "Read me. ".repeat(100);
  const address = `data:text/plain;base64,${base64(text)}`;
  const chat = chatWith(
    { filename: "a.txt", file_data: address },
    { filename: "b.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
  );
  const input = [{ role: "user", content: [{ type: "input_file", filename: "a.txt", file_data: address }] }];
  const responses = read(readResponsesRequest(bytes({ model: "m", input })));
  expect([chat.inputCharacters, responses.inputCharacters]).toEqual([text.length + "Read it.".length, text.length]);
  responses
    .texts()
    .find((slot) => slot.text === text)
    ?.replace("gone");
  expect(responses.inputCharacters).toBe("gone".length);
});
