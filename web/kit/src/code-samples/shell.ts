import { asksForStream, FILE_IN_SAMPLES, type SampleRequest } from "./sample-request.ts";

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function curlSample({ method, url, credential, headers, body }: SampleRequest): string {
  const written = method === "GET" || (method === "POST" && body !== null) ? [] : [`-X ${method}`];
  const lines = [
    ["curl", ...(asksForStream(body) ? ["-N"] : []), ...written, quoted(url)].join(" "),
    // In double quotes, so that the shell expands the variable.
    ...(credential === null ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body?.kind === "json" ? [`-H 'Content-Type: application/json'`, `-d ${quoted(body.text)}`] : []),
    ...(body?.kind === "form" ? body.fields.map(([name, value]) => `--form-string ${quoted(`${name}=${value}`)}`) : []),
    ...(body?.kind === "form" ? body.files.map((name) => `-F ${quoted(`${name}=@${FILE_IN_SAMPLES}`)}`) : []),
  ];
  return lines.join(" \\\n  ");
}
