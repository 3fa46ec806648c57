import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import type { FileOwner } from "../../store/files/files.ts";
import type { TenantSnapshot } from "../snapshot.ts";
import { type ResumableUpload, ResumableUploads } from "./resumable-uploads.ts";
import type { Files, ReceivedFile } from "./stored-files.ts";

test("an upload refused with too_many_uploads keeps the parts received so far", async () => {
  const discarded: string[] = [];
  const db = new Proxy(
    {},
    {
      get() {
        throw new Error("the upload was ended");
      },
    },
  );
  const files = { receive: async () => refuse("too_many_uploads"), discard: async ({ id }: { id: string }) => discarded.push(id) };
  const uploads = new ResumableUploads({ db, clock: { now: () => 0 } } as never, files as unknown as Files);
  const upload = { id: "u", display_name: null, pieces: [{ key: "first", bytes: 3 }] } as unknown as ResumableUpload;
  const last = { id: "last", bytes: 3 } as ReceivedFile;
  const refused = await uploads.finish({ tenantId: "t" } as FileOwner, {} as TenantSnapshot, upload, last);
  expect([refused, discarded]).toEqual([expect.objectContaining({ code: "too_many_uploads" }), ["last"]]);
});
