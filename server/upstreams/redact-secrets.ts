import { PacedReader, type PieceChange } from "./paced-reader.ts";

const MASK = "*";

/**
 * The response with the secrets in its headers and body masked, at the same length. From a stream, only an end that may be the start of a
 * secret is held back.
 */
export function redactSecrets(response: Response, secrets: readonly Buffer[]): Response {
  const isWhole = response.headers.has("content-length") && !response.headers.has("content-encoding");
  const headers = redactedHeaders(response.headers, secrets);
  if (headers === null) return redactedWhenRead(response, secrets, isWhole);
  const { status, statusText } = response;
  return new Response(redactedBody(response.body, secrets), { status, statusText, headers });
}

/** Null if there is nothing to redact. */
function redactedHeaders(sent: Headers, secrets: readonly Buffer[]): Headers | null {
  let headers: Headers | null = null;
  sent.forEach((value, name) => {
    const clean = redactedText(value, secrets);
    if (clean !== value) (headers ??= new Headers(sent)).set(name, clean);
  });
  return headers;
}

export function redactedText(text: string, secrets: readonly Buffer[]): string {
  let clean = text;
  for (const secret of secrets.map(String)) if (clean.includes(secret)) clean = clean.replaceAll(secret, () => MASK.repeat(secret.length));
  return clean;
}

/**
 * The same response, whose body is redacted when it is read, because wrapping it in another response costs more than the redaction. If its
 * length is known, the engine's fast path reads it in one piece.
 */
function redactedWhenRead(response: Response, secrets: readonly Buffer[], isWhole: boolean): Response {
  const { arrayBuffer } = response;
  // Lazy, because touching the stream disables the fast path.
  let stream: ReadableStream<Uint8Array> | null | undefined;
  const body = () => (stream ??= redactedBody(Reflect.get(Response.prototype, "body", response), secrets));
  response.arrayBuffer = async () => {
    // Once somebody has accessed the stream, the fast path is unavailable.
    if (!isWhole || stream != null) return new Response(body()).arrayBuffer();
    const whole = await arrayBuffer.call(response);
    const bytes = Buffer.from(whole);
    const clean = blank(bytes, secrets);
    return clean === bytes ? whole : (clean.buffer.slice(clean.byteOffset, clean.byteOffset + clean.byteLength) as ArrayBuffer);
  };
  response.text = () => new Response(body()).text();
  response.json = () => new Response(body()).json();
  return Object.defineProperty(response, "body", { get: body });
}

function redactedBody(sent: ReadableStream<Uint8Array> | null, secrets: readonly Buffer[]): ReadableStream<Uint8Array> | null {
  if (sent === null) return null;
  const reader = new PacedReader(sent, new Blanking(secrets));
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  // Streams are read through readers, piece by piece; the stream's own queue in between would cost more than the redaction.
  return Object.defineProperty(body, "getReader", { value: () => reader });
}

/** Masks secrets even if they are split across pieces. */
class Blanking implements PieceChange {
  private readonly secrets: readonly Buffer[];
  private held: Buffer | null = null;

  constructor(secrets: readonly Buffer[]) {
    this.secrets = secrets;
  }

  push(value: Uint8Array): Uint8Array | null {
    const piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
    const bytes = blank(this.held === null ? piece : Buffer.concat([this.held, piece]), this.secrets);
    const end = bytes.length - beginning(bytes, this.secrets);
    if (end === bytes.length) {
      this.held = null;
      return end > 0 ? bytes : null;
    }
    this.held = Buffer.from(bytes.subarray(end));
    return end > 0 ? bytes.subarray(0, end) : null;
  }

  end(): Uint8Array | null {
    const last = this.held;
    this.held = null;
    return last;
  }
}

function blank(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let clean = bytes;
  for (const secret of secrets)
    for (let at = clean.indexOf(secret); at >= 0; at = clean.indexOf(secret, at + secret.length)) {
      if (clean === bytes) clean = Buffer.from(bytes);
      clean.fill(MASK, at, at + secret.length);
    }
  return clean;
}

/** Length of the longest suffix that is the start of a secret. */
function beginning(bytes: Buffer, secrets: readonly Buffer[]): number {
  let longest = 0;
  for (const secret of secrets) {
    const first = secret[0] as number;
    const from = Math.max(0, bytes.length - secret.length + 1);
    for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
      const length = bytes.length - at;
      if (length <= longest) break;
      if (bytes.compare(secret, 0, length, at) !== 0) continue;
      longest = length;
      break;
    }
  }
  return longest;
}
