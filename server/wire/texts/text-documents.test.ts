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

test("a text file in a chat request is inspected, whether its type, name or bytes show that it is text", () => {
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

test("ambiguous base64 is inspected in the reading of each decoder", () => {
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

test("other files are not inspected and pass unchanged", () => {
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

test("a file of unknown type is inspected if its bytes are text", () => {
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

test("a file's name is inspected, whatever its type", () => {
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

test("text files in a Responses request are inspected, also in tool results, in the order of the items", () => {
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

test("a text document in base64 in a Messages request is inspected", () => {
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

test("the description of a hosted tool server is inspected as a tool definition", () => {
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

test("a text file is inspected in every place: in a data URL, in place of an image, by its name", () => {
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

describe("a text file cannot be hidden from inspection", () => {
  const escaped = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  test.each([
    ["an invalid escape after it", { image_url: { url: "data:text/plain,se%63ret%" } }, "secret%"],
    ["invalid UTF-8 before it", { image_url: { url: "data:text/plain,caf%E9 se%63ret" } }, "caf\ufffd secret"],
    ["percent-encoded base64", { file: { file_data: `data:text/plain;base64,${escaped(base64("secret"))}` } }, "secret"],
    ["Anthropic's form of a file", { source: { type: "base64", media_type: "text/plain", data: base64("secret") } }, "secret"],
    ["Google's form of a file", { inlineData: { mimeType: "text/plain", data: base64("secret") } }, "secret"],
  ])("by %s", (_name, part, text) => {
    const content = [{ type: "file", ...part }];
    const chat = guarded(read(readChatRequest(bytes({ model: "m", messages: [{ role: "user", content }] }))));
    expect(chat.texts).toEqual([text]);
    expect(JSON.stringify(chat.out)).toContain(base64(text.replace("secret", "***")));
  });
});

test("a text file counts towards the input length, with its replaced text", () => {
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
