import type { ColumnType, Generated } from "kysely";

/** Column types: what is read, inserted and updated. */

export type Stamp = ColumnType<Date, Date | string | undefined, Date | string>;
export type NullableStamp = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
export type Json<T> = ColumnType<T, string, string>;
export type JsonWithDefault<T> = ColumnType<T, string | undefined, string>;
export type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>;
export type WithDefault<T> = Generated<T>;
