/** Concatenates the parts, without copying if they are adjacent in one buffer. */
export function concat(parts: readonly Uint8Array[], total = parts.reduce((sum, part) => sum + part.byteLength, 0)): Uint8Array {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first;
  if (first !== undefined && lieTogether(parts)) return new Uint8Array(first.buffer, first.byteOffset, total);
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}

function lieTogether(parts: readonly Uint8Array[]): boolean {
  for (let i = 1; i < parts.length; i++) {
    const [before, part] = [parts[i - 1] as Uint8Array, parts[i] as Uint8Array];
    if (part.buffer !== before.buffer || part.byteOffset !== before.byteOffset + before.byteLength) return false;
  }
  return true;
}
