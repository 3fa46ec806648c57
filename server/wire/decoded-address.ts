/** The URL with percent-escapes decoded, as its receiver reads it; invalid escapes stay as they are. */
export function decodedAddress(address: string): string {
  if (!address.includes("%")) return address;
  try {
    return decodeURIComponent(address);
  } catch {
    // One invalid escape must not keep the others from being decoded.
    return address.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString());
  }
}
