import { expect, test } from "bun:test";
import type { Call } from "../../road/call.ts";
import { FileRoom } from "../../road/request/file-room.ts";
import { type MediaStore, storedMedia } from "./stored-media.ts";

const SIZE = 20 * 1024 * 1024;

function callOf(tenantId: string): Call {
  return { identity: { tenantId, userId: null }, scope: { groupId: "g", tenant: {} }, whenEnded: [] } as unknown as Call;
}

test("short requests that name large files are refused beyond the tenant's memory limit", async () => {
  let opened = 0;
  const store = {
    files: {
      find: async () => ({ id: "file-1", kind: "image", mime_type: "image/png", size_bytes: SIZE, display_name: null }),
      open: async () => {
        opened++;
        return new Blob([new Uint8Array(1)]).stream();
      },
    },
    room: new FileRoom(),
  } as unknown as MediaStore;
  const named = (call: Call) => storedMedia(call, store, { id: "file-1", kind: "image" }, "input_reference.file_id");
  const calls = Array.from({ length: 6 }, () => callOf("busy"));
  for (const call of calls) expect(await named(call)).toMatchObject({ mimeType: "image/png" });
  expect(await named(callOf("busy"))).toMatchObject({ code: "too_many_uploads", headers: { "retry-after": "1" } });
  expect(opened).toBe(6);
  expect(await named(callOf("other"))).toMatchObject({ mimeType: "image/png" });
  for (const done of calls[0]?.whenEnded ?? []) done({} as never);
  expect(await named(callOf("busy"))).toMatchObject({ mimeType: "image/png" });
});
