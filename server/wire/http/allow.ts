/**
 * The `Allow` header of each path. Paths with fewer parameters come first and must be matched in that order: `/things/:id`
 * also matches `/things/export`.
 */
export function allowOf(routes: readonly { readonly method: string; readonly path: string }[]): [path: string, allow: string][] {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) methods.set(path, [...(methods.get(path) ?? []), method]);
  const parameters = (path: string) => path.replaceAll(/\{[^}]*\}/g, "").split(":").length;
  return [...methods]
    .sort(([one], [other]) => parameters(one) - parameters(other))
    .map(([path, allowed]) => [path, (allowed.includes("GET") ? [...allowed, "HEAD"] : allowed).join(", ")]);
}
