import { afterAll, beforeAll, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeSamples, type SampleRequest } from "../../web/kit/src/code-samples.ts";

const run = promisify(execFile);
const HOSTILE = 'it\'s "quoted" $HOME `id` \\ \u2028 <b> 😀\nnext';
const FILE = "\u0000\u0001bytes";
let folder: string;
let server: ReturnType<typeof Bun.serve>;
let heard: { method: string; path: string; authorization: string | null; trace: string | null; type: string; text: string }[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gatehouse-samples-"));
  writeFileSync(join(folder, "file.bin"), FILE);
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const type = request.headers.get("content-type") ?? "";
      let text = "";
      if (type.startsWith("multipart/")) {
        const form = await request.formData();
        text = JSON.stringify({ purpose: form.get("purpose"), file: await (form.get("file") as File).text() });
      } else text = await request.text();
      const authorization = request.headers.get("authorization");
      const trace = request.headers.get("x-trace");
      heard.push({ method: request.method, path: pathname + search, authorization, trace, type, text });
      return new Response("answered ✓");
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

const requests: Record<string, (origin: string) => SampleRequest> = {
  "a body with characters that languages escape": (origin) => ({
    method: "POST",
    url: `${origin}/v1/x?search=a%20b&c=%27d%27`,
    credential: "SAMPLE_KEY",
    headers: [["X-Trace", "o'clock $HOME"]],
    body: { kind: "json", text: JSON.stringify({ text: HOSTILE, deep: [{ yes: true, none: null, half: 0.5, list: [] }] }, null, 2) },
  }),
  "numbers beyond double precision": (origin) => ({
    method: "PUT",
    url: `${origin}/v1/x`,
    credential: null,
    headers: [],
    body: { kind: "json", text: '{"seq":9007199254740993,"cost":0.10000000000000000001}' },
  }),
  "a stream": (origin) => ({
    method: "POST",
    url: `${origin}/v1/x`,
    credential: "SAMPLE_KEY",
    headers: [],
    body: { kind: "json", text: '{"stream":true}' },
  }),
  "a request without a body": (origin) => ({
    method: "DELETE",
    url: `${origin}/v1/x/1`,
    credential: "SAMPLE_KEY",
    headers: [],
    body: null,
  }),
  "a form with a file": (origin) => ({
    method: "POST",
    url: `${origin}/v1/files`,
    credential: "SAMPLE_KEY",
    headers: [],
    body: { kind: "form", fields: [["purpose", "it's a 'test'"]], files: ["file"] },
  }),
};

/** A Python that has `requests`, such as the one with the tests' S3-compatible server. */
const PYTHON = process.env.S3_PYTHON;
if (PYTHON === undefined) console.log("Python's samples are left out: S3_PYTHON names no Python that has requests.");
if (Bun.which("go") === null) console.log("Go's samples are left out: there is no go on this machine.");
const RUNNERS: Record<string, (file: string) => readonly [string, ...string[]]> = {
  curl: (file) => ["bash", file],
  JavaScript: (file) => ["node", file],
  ...(PYTHON === undefined ? {} : { Python: (file: string) => [PYTHON, file] as const }),
  ...(Bun.which("go") === null ? {} : { Go: (file: string) => ["go", "run", file] as const }),
};
const ENDINGS: Record<string, string> = { curl: "sh", JavaScript: "mjs", Python: "py", Go: "go" };

for (const [name, make] of Object.entries(requests))
  for (const [language, command] of Object.entries(RUNNERS))
    test(`${language} code sample sends ${name} unchanged`, async () => {
      heard = [];
      const request = make(server.url.origin);
      const { code } = codeSamples(request).find((sample) => sample.language === language) as { code: string };
      const file = join(folder, `sample.${ENDINGS[language]}`);
      writeFileSync(file, code);
      const [program, ...given] = command(file);
      const { stdout } = await run(program, given, { cwd: folder, env: { ...process.env, SAMPLE_KEY: "sk_test", GO111MODULE: "off" } });
      expect(stdout.trim().endsWith("answered ✓")).toBe(true);
      const [one] = heard;
      expect(heard.length).toBe(1);
      expect([one?.method, one?.path]).toEqual([request.method, request.url.slice(server.url.origin.length)]);
      expect(one?.authorization ?? null).toBe(request.credential === null ? null : "Bearer sk_test");
      expect(one?.trace ?? null).toBe(request.headers[0]?.[1] ?? null);
      const { body } = request;
      if (body === null) expect(one?.text).toBe("");
      else if (body.kind === "form") expect(JSON.parse(one?.text ?? "")).toEqual({ purpose: "it's a 'test'", file: FILE });
      else {
        expect(one?.type).toStartWith("application/json");
        expect(JSON.parse(one?.text ?? "")).toEqual(JSON.parse(body.text));
        if (body.text.includes("9007199254740993")) expect(one?.text).toBe(body.text);
      }
    });

test("samples with vendors' clients are shown only for paths those clients can call", () => {
  const at = (path: string, body: object) =>
    codeSamples({
      method: "POST",
      url: `http://127.0.0.1:1${path}`,
      credential: "GATEHOUSE_KEY",
      headers: [],
      body: { kind: "json", text: JSON.stringify(body) },
    })
      .slice(4)
      .map(({ language, code }) => [language, code] as const);
  const chat = at("/v1/proxy/llm/chat/completions", { model: "echo", messages: [{ role: "user", content: "hi" }] });
  expect(chat.map(([language]) => language)).toEqual(["OpenAI SDK (Python)", "OpenAI SDK (JavaScript)"]);
  expect(chat[0]?.[1]).toContain('OpenAI(base_url="http://127.0.0.1:1/v1/proxy/llm", api_key=os.environ["GATEHOUSE_KEY"])');
  expect(at("/v1/messages", { model: "echo" })[1]?.[1]).toContain('import Anthropic from "@anthropic-ai/sdk"');
  expect(at("/v1/admin/llms", { name: "x" })).toEqual([]);
});
