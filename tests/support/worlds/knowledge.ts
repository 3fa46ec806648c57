import type { AdminClient } from "./admin.ts";
import { PATIENCE_MS } from "../patience.ts";
import { nextLook } from "../until.ts";

const PATH = "/v1/admin/knowledgebases";

/** Uploads a document like a browser form. */
export async function uploadTo(
  adminUrl: string,
  admin: AdminClient,
  baseId: string,
  fileName: string,
  content: string | Uint8Array,
  more: Record<string, string> = {},
): Promise<{ status: number; body: any }> {
  const form = new FormData();
  form.set("file", new File([content as BlobPart], fileName));
  for (const [name, value] of Object.entries(more)) form.set(name, value);
  const response = await fetch(`${adminUrl}${PATH}/${baseId}/documents`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin.token}` },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

/** Waits until the document matches, and resolves to it. */
export async function documentWhen(admin: AdminClient, baseId: string, id: string, fits: (document: any) => boolean): Promise<any> {
  for (const begun = Date.now(); ; await nextLook(begun)) {
    const document = await admin.get(`${PATH}/${baseId}/documents/${id}`);
    if (fits(document)) return document;
    if (Date.now() > begun + PATIENCE_MS) throw new Error(`the document stays ${JSON.stringify(document)}`);
  }
}

export const settledDocument = (admin: AdminClient, baseId: string, id: string): Promise<any> =>
  documentWhen(admin, baseId, id, ({ status }) => status === "ready" || status === "failed");
