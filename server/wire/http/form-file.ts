/**
 * The bytes of one file of a multipart/form-data body; null if the body is not such a form or has no file in that field.
 * The caller must have limited the size of `body`.
 */
export async function formFile(body: Uint8Array, contentType: string | null, field: string): Promise<Uint8Array | null> {
  if (contentType === null || !/^multipart\/form-data\b/i.test(contentType)) return null;
  try {
    const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": contentType } }).formData();
    const value = form.get(field);
    return value === null || typeof value === "string" ? null : new Uint8Array(await value.arrayBuffer());
  } catch {
    return null;
  }
}
