const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

/** Parses `WIDTHxHEIGHT`; null if the model may choose. */
export function sizeOf(requestedSize: unknown): { readonly width: number; readonly height: number } | null {
  const [, width, height] = SIZE.exec(typeof requestedSize === "string" ? requestedSize : "") ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

export function isSize(requestedSize: unknown): boolean {
  return requestedSize === "auto" || sizeOf(requestedSize) !== null;
}
