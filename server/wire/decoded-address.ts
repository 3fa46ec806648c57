/** An address with what is escaped in it as its reader has it; as it is where that is not to be had. */
export function decodedAddress(address: string): string {
  if (!address.includes("%")) return address;
  try {
    return decodeURIComponent(address);
  } catch {
    // One escape that is none leaves the others what they are.
    return address.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString());
  }
}
