/** The origin of a sign-in page as the requesting browser knows it. */
export function planeOrigin(
  request: { readonly url: string; readonly headers: { get(name: string): string | null } },
  publicUrl: string | null,
): string {
  return publicUrl ?? new URL(request.url).origin;
}
