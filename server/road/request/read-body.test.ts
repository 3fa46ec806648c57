import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { readBody } from "./read-body.ts";
import { isRefusal } from "../../kernel/errors.ts";

const MAX = 1_000;

async function bodyOf(coding: string, body: Uint8Array | string, mayBeGzip: boolean): Promise<string> {
  const read = await readBody(
    new Request("http://gateway/", { method: "POST", headers: { "content-encoding": coding }, body: body as string }),
    MAX,
    { mayBeGzip },
  );
  return isRefusal(read) ? read.code : new TextDecoder().decode(read);
}

test("content encodings are recognised in any case", async () => {
  for (const coding of ["identity", "Identity"]) expect(await bodyOf(coding, "hello", false)).toBe("hello");
  for (const coding of ["gzip", "GZIP"]) {
    expect(await bodyOf(coding, gzipSync("hello"), true)).toBe("hello");
    expect(await bodyOf(coding, gzipSync("hello"), false)).toBe("unsupported_media_type");
  }
});
