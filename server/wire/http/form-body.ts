import type { MediaFile } from "../../kernel/files/media-file.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import type { OutboundBytes } from "../../kernel/http/outbound-bytes.ts";
import { streamOfPieces } from "../../kernel/http/stream-of-pieces.ts";
import type { SentFile } from "./sent-file.ts";

const encoder = new TextEncoder();

/** Escapes a name for a part's header as browsers do, so that it cannot break out of the quotes. */
function quoted(name: string): string {
  return `"${name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22")}"`;
}

/** A multipart/form-data body whose files are read while it is sent. */
export function formBody(fields: readonly (readonly [name: string, value: string])[], files: readonly Readonly<SentFile>[]): OutboundBytes {
  const boundary = `gatehouse-${crypto.randomUUID()}`;
  const line = (text: string) => encoder.encode(`${text}\r\n`);
  const parts: (Uint8Array | MediaFile)[] = [];
  for (const [name, value] of fields)
    parts.push(line(`--${boundary}\r\ncontent-disposition: form-data; name=${quoted(name)}\r\n\r\n${value}`));
  for (const { field, file, name } of files) {
    const disposition = `content-disposition: form-data; name=${quoted(field)}; filename=${quoted(name)}`;
    parts.push(line(`--${boundary}\r\n${disposition}\r\ncontent-type: ${file.mimeType}\r\n`), file, line(""));
  }
  parts.push(line(`--${boundary}--`));
  const length = parts.reduce((sum, part) => sum + (part instanceof Uint8Array ? part.byteLength : part.bytes), 0);
  return { contentType: `multipart/form-data; boundary=${boundary}`, length, open: () => streamOfPieces(piecesOf(parts)) };
}

async function* piecesOf(parts: readonly (Uint8Array | MediaFile)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      yield part;
      continue;
    }
    const reader = part.open().getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        yield value;
      }
    } finally {
      await cancelQuietly(reader);
    }
  }
}
