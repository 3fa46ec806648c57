import { isRefusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { Surface } from "../../road/surface.ts";
import { type FileService, noteFile } from "../../services/files/caller.ts";
import type { RunAccess } from "../../services/runs/run-access.ts";
import { contentAnswer } from "./content.ts";
import { fileIdIn, fileNamed, fileSurface } from "./files.ts";

/** GET /v1/proxy/files/{file_id}/content, with a credential or a signed URL. */
export const fileContent = (files: FileService, runs: Pick<RunAccess, "join">): Surface => ({
  ...contentSurface(files, runs),
  vouchesFor(call) {
    const signed = signatureIn(call);
    return signed !== null && files.isIssued(fileIdIn(call), signed.expires, signed.signature);
  },
});

/** The signature in a URL; null if there is none or it is ambiguous. */
function signatureIn(call: Call): { readonly expires: string; readonly signature: string } | null {
  const query = new URL(call.url).searchParams;
  const [expires, ...others] = query.getAll("expires");
  const [signature, ...more] = query.getAll("signature");
  return expires === undefined || signature === undefined || others.length + more.length > 0 ? null : { expires, signature };
}

const contentSurface = (files: FileService, runs: Pick<RunAccess, "join">): Surface =>
  fileSurface(async (call) => {
    if (call.identity !== null) {
      const file = await fileNamed(call, files);
      return isRefusal(file) ? file : contentAnswer(call, files, file);
    }
    const query = new URL(call.url).searchParams;
    if (!query.has("expires") && !query.has("signature")) return refuse("unauthenticated", undefined, { reason: "credential_missing" });
    const signed = signatureIn(call);
    if (signed === null) return refuse("file_not_found");
    const file = await files.findSigned(fileIdIn(call), signed.expires, signed.signature);
    if (isRefusal(file)) return file;
    call.identity = { tenantId: file.tenant_id, credentialId: file.id, credentialName: "signed address", userId: null, username: null };
    runs.join(call, call.identity);
    noteFile(call, file);
    call.row.tenant_id = file.tenant_id;
    call.row.resource_group_id = file.resource_group_id;
    return contentAnswer(call, files, file);
  });
