import { FILE_IN_SAMPLES, type SampleRequest } from "./sample-request.ts";

const quoted = (text: string) => JSON.stringify(text);
/** As it stands, where Go can hold it so. */
const raw = (text: string) => (/[`\r]/.test(text) ? quoted(text) : `\`${text}\``);

/** One whole program of the standard library. */
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
  // What the text of a body breaks over lines is not indented: it would be sent so.
  return `package main\n\nimport (\n${listed}\n)\n\nfunc main() {\n${lines.map((line) => `\t${line}`).join("\n")}\n}`;
}
