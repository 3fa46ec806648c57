import { asksForStream, FILE_IN_SAMPLES, indented, jsonValue, keepsDigits, type SampleRequest } from "./sample-request.ts";

const INDENT = "    ";

/** A JSON value as a Python literal. JSON's string escapes mean the same in Python, except for surrogate pairs. */
export function pythonLiteral(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  const items = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n${items.map((item) => `${INDENT}${indented(item, INDENT)},`).join("\n")}\n${close}`;
}

/** Uses the requests library. */
export function pythonSample({ method, url, credential, headers, body }: SampleRequest): string {
  const isStream = asksForStream(body);
  const asJson = body?.kind === "json" && jsonValue(body.text) !== undefined && keepsDigits(body.text);
  const heads = [
    ...(credential === null ? [] : [`"Authorization": f"Bearer {os.environ['${credential}']}",`]),
    ...headers.map(([name, value]) => `${pythonLiteral(name)}: ${pythonLiteral(value)},`),
    ...(body?.kind === "json" && !asJson ? [`"Content-Type": "application/json",`] : []),
  ];
  const options = [
    ...(heads.length === 0 ? [] : [`headers={\n${heads.map((head) => `${INDENT}${INDENT}${head}`).join("\n")}\n${INDENT}},`]),
    ...(body?.kind === "json"
      ? [asJson ? `json=${indented(pythonLiteral(jsonValue(body.text)), INDENT)},` : `data=${pythonLiteral(body.text)}.encode(),`]
      : []),
    ...(body?.kind === "form" && body.fields.length > 0
      ? [`data={${body.fields.map(([name, value]) => `${pythonLiteral(name)}: ${pythonLiteral(value)}`).join(", ")}},`]
      : []),
    ...(body?.kind === "form" && body.files.length > 0
      ? [`files={${body.files.map((name) => `${pythonLiteral(name)}: open(${pythonLiteral(FILE_IN_SAMPLES)}, "rb")`).join(", ")}},`]
      : []),
    ...(isStream ? ["stream=True,"] : []),
    "timeout=60,",
  ];
  return [
    ...(credential === null ? [] : ["import os", ""]),
    "import requests",
    "",
    "response = requests.request(",
    `${INDENT}${pythonLiteral(method)},`,
    `${INDENT}${pythonLiteral(url)},`,
    ...options.map((option) => `${INDENT}${option}`),
    ")",
    ...(isStream
      ? ["for piece in response.iter_content(None):", `${INDENT}print(piece.decode(), end="", flush=True)`]
      : ["print(response.text)"]),
  ].join("\n");
}
