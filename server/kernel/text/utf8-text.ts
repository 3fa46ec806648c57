/** Whether bytes are text; `isWhole`: a character may not go on behind them. */
export function isUtf8Text(head: Uint8Array, isWhole: boolean): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}
