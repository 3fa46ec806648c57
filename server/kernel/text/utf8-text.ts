/** Whether bytes are UTF-8 text. `isWhole`: the last character may not continue beyond them. */
export function isUtf8Text(head: Uint8Array, isWhole: boolean): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}
