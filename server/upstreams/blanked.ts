import { pacedReader } from "./paced-reader.ts";

const MASK = "*";
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * The answer with the secrets blanked in its headers and its body, in as many characters as they had. Of a stream no
 * more is held back than an end that begins one of them.
 */
export function blanked(response: Response, secrets: readonly Buffer[]): Response {
  const isWhole = response.headers.has("content-length") && !response.headers.has("content-encoding");
  if (isWhole && secrets.length === 0) return response;
  const headers = blankedHeaders(response.headers, secrets);
  if (headers === null && isWhole) return readBlanked(response, secrets);
  const { status, statusText } = response;
  return new Response(blankedBody(response.body, secrets), { status, statusText, headers: headers ?? response.headers });
}

/** Null where nothing has to be blanked. */
function blankedHeaders(sent: Headers, secrets: readonly Buffer[]): Headers | null {
  const texts = secrets.map(String);
  let headers: Headers | null = null;
  sent.forEach((value, name) => {
    let clean = value;
    for (const text of texts) if (clean.includes(text)) clean = clean.replaceAll(text, MASK.repeat(text.length));
    if (clean !== value) (headers ??= new Headers(sent)).set(name, clean);
  });
  return headers;
}

/** An answer that says how long it is is read in one piece, by the engine's own quick way; only then is it looked at. */
function readBlanked(response: Response, secrets: readonly Buffer[]): Response {
  const { arrayBuffer } = response;
  // Not before somebody wants it: to ask for the stream costs the quick way.
  let stream: ReadableStream<Uint8Array> | null | undefined;
  const body = () => (stream ??= blankedBody(Reflect.get(Response.prototype, "body", response), secrets));
  response.arrayBuffer = async () => {
    // Whoever looked whether there is a stream has it, and the quick way is closed.
    if (stream != null) return new Response(stream).arrayBuffer();
    const whole = await arrayBuffer.call(response);
    const bytes = Buffer.from(whole);
    const clean = blank(bytes, secrets);
    return clean === bytes ? whole : (clean.buffer.slice(clean.byteOffset, clean.byteOffset + clean.byteLength) as ArrayBuffer);
  };
  response.text = () => new Response(body()).text();
  return Object.defineProperty(response, "body", { get: body });
}

function blankedBody(sent: ReadableStream<Uint8Array> | null, secrets: readonly Buffer[]): ReadableStream<Uint8Array> | null {
  if (sent === null) return null;
  const reader = pacedReader(sent);
  let held = NOTHING;
  /** Null at the end. */
  const next = async (): Promise<Uint8Array | null> => {
    for (;;) {
      const value = await reader.read();
      if (value === null) {
        const last = held;
        held = NOTHING;
        return last.length > 0 ? last : null;
      }
      const piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      const bytes = blank(held.length === 0 ? piece : Buffer.concat([held, piece]), secrets);
      const end = bytes.length - beginning(bytes, secrets);
      held = end === bytes.length ? NOTHING : Buffer.from(bytes.subarray(end));
      if (end > 0) return bytes.subarray(0, end);
    }
  };
  const cancel = (reason?: unknown) => reader.cancel(reason);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await next();
        if (bytes === null) controller.close();
        else controller.enqueue(bytes);
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  // Streams are read by readers, piece by piece: a queue of the stream's own between the two would cost more than the look.
  return Object.defineProperty(body, "getReader", { value: () => readerOf(next, cancel) });
}

function readerOf(
  next: () => Promise<Uint8Array | null>,
  cancel: (reason?: unknown) => Promise<void>,
): ReadableStreamDefaultReader<Uint8Array> {
  const { promise: closed, resolve } = Promise.withResolvers<undefined>();
  const reader = {
    async read() {
      const value = await next();
      if (value !== null) return { done: false, value };
      resolve(undefined);
      return { done: true, value: undefined };
    },
    cancel,
    releaseLock: () => undefined,
    closed,
  };
  return reader as unknown as ReadableStreamDefaultReader<Uint8Array>;
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

/** Length of the longest end that begins a secret. */
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
