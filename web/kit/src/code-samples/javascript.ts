import { FILE_IN_SAMPLES, indented, jsonValue, keepsDigits, type SampleBody, type SampleRequest } from "./sample-request.ts";

/** JSON is valid JavaScript except for two characters that are line terminators there. */
const literal = (value: unknown) =>
  JSON.stringify(value, null, 2)
    .replaceAll("\u2028", String.raw`\u2028`)
    .replaceAll("\u2029", String.raw`\u2029`);

function bodyOf(body: SampleBody): { before: string[]; written: string } {
  if (body.kind === "json") {
    const value = jsonValue(body.text);
    return {
      before: [],
      written: value === undefined || !keepsDigits(body.text) ? literal(body.text) : `JSON.stringify(${indented(literal(value), "  ")})`,
    };
  }
  return {
    before: [
      ...(body.files.length === 0 ? [] : ['import { openAsBlob } from "node:fs";', ""]),
      "const form = new FormData();",
      ...body.fields.map(([name, value]) => `form.append(${literal(name)}, ${literal(value)});`),
      ...body.files.map(
        (name) => `form.append(${literal(name)}, await openAsBlob(${literal(FILE_IN_SAMPLES)}), ${literal(FILE_IN_SAMPLES)});`,
      ),
      "",
    ],
    written: "form",
  };
}

/** A module for Node.js 20 or newer, Bun or Deno. */
export function javaScriptSample({ method, url, credential, headers, body }: SampleRequest): string {
  const { before, written } = body === null ? { before: [], written: null } : bodyOf(body);
  const heads = [
    ...(credential === null ? [] : [`Authorization: \`Bearer \${process.env.${credential}}\``]),
    ...headers.map(([name, value]) => `${literal(name)}: ${literal(value)}`),
    ...(body?.kind === "json" ? ['"Content-Type": "application/json"'] : []),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: ${literal(method)},`]),
    ...(heads.length === 0 ? [] : [`headers: {\n${heads.map((head) => `    ${head},`).join("\n")}\n  },`]),
    ...(written === null ? [] : [`body: ${written},`]),
  ];
  const given = options.length === 0 ? "" : `, {\n${options.map((option) => `  ${option}`).join("\n")}\n}`;
  return [
    ...before,
    `const response = await fetch(${literal(url)}${given});`,
    "for await (const piece of response.body.pipeThrough(new TextDecoderStream())) process.stdout.write(piece);",
  ].join("\n");
}
