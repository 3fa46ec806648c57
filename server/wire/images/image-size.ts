const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;

/** Parses `WIDTHxHEIGHT`; null if the model may choose. */
export function sizeOf(asked: unknown): { readonly width: number; readonly height: number } | null {
  const [, width, height] = SIZE.exec(typeof asked === "string" ? asked : "") ?? [];
  return width === undefined ? null : { width: Number(width), height: Number(height) };
}

export function isSize(asked: unknown): boolean {
  return asked === "auto" || sizeOf(asked) !== null;
}
