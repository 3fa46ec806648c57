import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFilesBelow } from "../../../tests/support/processes/open-files.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { Spool } from "./spool.ts";

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), "gatehouse spool-"));
});
afterAll(() => rmSync(path, { recursive: true }));

async function* text(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("a text of some words");
}

test("a file uploaded with a call leaves nothing on disk after the call, even if nobody read it to the end", async () => {
  const spool = await Spool.open(path, { seconds: async () => null });
  const file = await spool.receive("t", { field: "file", name: "a.txt", bytes: text() }, "document");
  if (isRefusal(file)) throw new Error(file.message);
  expect(await new Response(file.open()).text()).toBe("a text of some words");
  for (let n = 0; n < 5; n++) file.open();
  await spool.remove("t", file);
  expect([readdirSync(path), openFilesBelow(path)]).toEqual([[], 0]);
});
