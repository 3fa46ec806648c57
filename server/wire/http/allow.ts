/**
 * The `Allow` of each path. Those with fewer parameters come first, as they must be looked for: `/things/:id` would
 * answer for `/things/export` too.
 */
export function allowOf(routes: readonly { readonly method: string; readonly path: string }[]): [path: string, allow: string][] {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) methods.set(path, [...(methods.get(path) ?? []), method]);
  const parameters = (path: string) => path.replaceAll(/\{[^}]*\}/g, "").split(":").length;
  return [...methods]
    .sort(([one], [other]) => parameters(one) - parameters(other))
    .map(([path, allowed]) => [path, (allowed.includes("GET") ? [...allowed, "HEAD"] : allowed).join(", ")]);
}
