/** Whatever the bytes contain, browsers render them only as an image of the declared type, without scripts or subresources. */
export const PHOTO_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "content-disposition": 'inline; filename="photo"',
  "cross-origin-resource-policy": "cross-origin",
  "cache-control": "private, max-age=86400, immutable",
} as const;
