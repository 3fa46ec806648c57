import { FILE_IN_SAMPLES, type SampleRequest } from "./sample-request.ts";

const quoted = (text: string) => JSON.stringify(text);
/** A raw string literal where Go allows one. */
const raw = (text: string) => (/[`\r]/.test(text) ? quoted(text) : `\`${text}\``);

/** A complete program using only the standard library. */
export function goSample({ method, url, credential, headers, body }: SampleRequest): string {
  const isForm = body?.kind === "form";
  const imports = [
    ...(isForm ? ["bytes"] : []),
    "io",
    ...(isForm ? ["mime/multipart"] : []),
    "net/http",
    "os",
    ...(body?.kind === "json" ? ["strings"] : []),
  ];
  const made = isForm
    ? [
        "var body bytes.Buffer",
        "form := multipart.NewWriter(&body)",
        ...body.fields.map(([name, value]) => `form.WriteField(${quoted(name)}, ${quoted(value)})`),
        ...body.files.flatMap((name) => [
          `file, err := os.Open(${quoted(FILE_IN_SAMPLES)})`,
          "if err != nil {",
          "\tpanic(err)",
          "}",
          `part, _ := form.CreateFormFile(${quoted(name)}, ${quoted(FILE_IN_SAMPLES)})`,
          "io.Copy(part, file)",
        ]),
        "form.Close()",
      ]
    : [];
  const sent = body === null ? "nil" : isForm ? "&body" : `strings.NewReader(${raw(body.text)})`;
  const lines = [
    ...made,
    `request, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, ${sent})`,
    "if err != nil {",
    "\tpanic(err)",
    "}",
    ...(credential === null ? [] : [`request.Header.Set("Authorization", "Bearer "+os.Getenv(${quoted(credential)}))`]),
    ...headers.map(([name, value]) => `request.Header.Set(${quoted(name)}, ${quoted(value)})`),
    ...(body?.kind === "json" ? ['request.Header.Set("Content-Type", "application/json")'] : []),
    ...(isForm ? ['request.Header.Set("Content-Type", form.FormDataContentType())'] : []),
    "response, err := http.DefaultClient.Do(request)",
    "if err != nil {",
    "\tpanic(err)",
    "}",
    "defer response.Body.Close()",
    "io.Copy(os.Stdout, response.Body)",
  ];
  const listed = imports.map((name) => `\t${quoted(name)}`).join("\n");
  // Lines of a multi-line body must not be indented, or the indentation would be sent.
  return `package main\n\nimport (\n${listed}\n)\n\nfunc main() {\n${lines.map((line) => `\t${line}`).join("\n")}\n}`;
}
