import { expect, test } from "bun:test";
import { Files, type StoredFile } from "./stored-files.ts";

test("a file is not opened if the database cannot count its reader, because it would never be closed", async () => {
  let opened = 0;
  const db = {
    updateTable() {
      throw new Error("the database is away");
    },
  };
  const files = new Files({ db, blobs: { read: async () => (opened++, new ReadableStream()) } } as never);
  const refused = await files.open({ id: "file-0001", tenant_id: "t" } as StoredFile, 0, 1);
  expect([refused, opened]).toEqual([expect.objectContaining({ code: "files_unavailable" }), 0]);
});
