/** Sets query parameters of the URL; null values are left out. */
export function withQuery(address: string, values: Readonly<Record<string, string | null>>): string {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) if (value !== null) url.searchParams.set(name, value);
  return url.href;
}
