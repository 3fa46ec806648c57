import { isRefusal, refuse } from "../../kernel/errors.ts";
import type { Surface } from "../../road/surface.ts";
import { type FileService, noteFile } from "../../services/files/caller.ts";
import { contentAnswer } from "./content.ts";
import { fileIdIn, fileNamed, fileSurface } from "./files.ts";

/** GET /v1/proxy/files/{file_id}/content, with a credential or with the signature of a signed address. */
export const fileContent = (files: FileService): Surface => ({
  ...contentSurface(files),
  vouchesFor(call) {
    const { searchParams: query } = new URL(call.url);
    return files.isIssued(fileIdIn(call), query.get("expires") ?? "", query.get("signature") ?? "");
  },
});

const contentSurface = (files: FileService): Surface =>
  fileSurface(async (call) => {
    const query = new URL(call.url).searchParams;
    const [expires, ...others] = query.getAll("expires");
    const [signature, ...more] = query.getAll("signature");
    if (call.identity !== null) {
      const file = await fileNamed(call, files);
      return isRefusal(file) ? file : contentAnswer(call, files, file);
    }
    if (expires === undefined && signature === undefined) return refuse("unauthenticated", undefined, { reason: "credential_missing" });
    if (expires === undefined || signature === undefined || others.length + more.length > 0) return refuse("file_not_found");
    const file = await files.findSigned(fileIdIn(call), expires, signature);
    if (isRefusal(file)) return file;
    noteFile(call, file);
    call.identity = { tenantId: file.tenant_id, credentialId: file.id, credentialName: "signed address", userId: null, username: null };
    call.row.tenant_id = file.tenant_id;
    call.row.resource_group_id = file.resource_group_id;
    return contentAnswer(call, files, file);
  });
