/** Whatever the bytes are, a browser takes them for the picture they begin as, runs nothing in them and lets them fetch nothing. */
export const PHOTO_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "content-disposition": 'inline; filename="photo"',
  "cross-origin-resource-policy": "cross-origin",
  "cache-control": "private, max-age=86400, immutable",
} as const;
