// Dictionaries that keep the order of their keys, as Python's do: MicroPython's own have that of hashes.
//
// A small one is an array without gaps. Behind the array of a large one is an index: where it ends, how many of its entries are indexed, and
// a table of hashes. What was removed from a large one leaves a gap.
#include <string.h>

#include "py/runtime.h"

enum { SMALL = 8 }; // entries that are looked through

typedef struct {
  uint32_t end;     // entries before it are in use, or gaps
  uint32_t indexed; // 1: slots are those of the entries
  uint32_t slots[]; // an entry's number and one; 0: free
} map_index;

mp_map_elem_t *mp_map_lookup_hashed(mp_map_t *map, mp_obj_t key, mp_map_lookup_kind_t kind);

static uint32_t width_of(uint32_t alloc) { return 33 - __builtin_clz(alloc - 1); } // bits: at least twice as many slots
static map_index *index_of(mp_map_t *map) { return (map_index *)(map->table + map->alloc); }
static bool filled(const mp_map_elem_t *e) { return e->key != MP_OBJ_NULL && e->key != MP_OBJ_SENTINEL; }

static mp_map_elem_t *table_of(size_t alloc) {
  size_t more = alloc > SMALL ? sizeof(map_index) + (sizeof(uint32_t) << width_of(alloc)) : 0;
  return (mp_map_elem_t *)m_malloc0(alloc * sizeof(mp_map_elem_t) + more);
}

void mp_map_init(mp_map_t *map, size_t n) {
  map->table = n ? table_of(n) : NULL;
  map->alloc = n, map->used = 0;
  map->all_keys_are_qstrs = 1, map->is_fixed = 0, map->is_ordered = 1;
}

static uint32_t slot_of(mp_obj_t key, uint32_t width) {
  uint32_t hash = mp_obj_is_qstr(key) ? qstr_hash(MP_OBJ_QSTR_VALUE(key)) : (uint32_t)MP_OBJ_SMALL_INT_VALUE(mp_unary_op(MP_UNARY_OP_HASH, key));
  return (hash * 0x9e3779b1u) >> (32 - width);
}

// settled gives the index of a large map. A copy of a map has no index yet.
static map_index *settled(mp_map_t *map) {
  map_index *x = index_of(map);
  if (x->indexed || !map->used) return x;
  uint32_t width = width_of(map->alloc), end = 0;
  for (uint32_t i = 0; i < map->alloc; i++) {
    if (map->table[i].key == MP_OBJ_NULL) continue;
    end = i + 1;
    if (!filled(&map->table[i])) continue;
    uint32_t at = slot_of(map->table[i].key, width);
    while (x->slots[at]) at = (at + 1) & ((1u << width) - 1);
    x->slots[at] = i + 1;
  }
  x->end = end, x->indexed = 1;
  return x;
}

// grown moves the entries into a table with room for another, without gaps.
static void grown(mp_map_t *map) {
  uint32_t alloc = map->used + map->used / 2 + 4;
  mp_map_elem_t *table = table_of(alloc);
  uint32_t n = 0;
  for (uint32_t i = 0; i < map->alloc; i++)
    if (filled(&map->table[i])) table[n++] = map->table[i];
  map->table = table, map->alloc = alloc, map->used = n;
  if (alloc > SMALL) settled(map)->end = n;
}

static mp_map_elem_t *added(mp_map_t *map, mp_map_elem_t *e, mp_obj_t key) {
  e->key = key, e->value = MP_OBJ_NULL;
  map->used++;
  if (!mp_obj_is_qstr(key)) map->all_keys_are_qstrs = 0;
  return e;
}

static bool same(mp_obj_t a, mp_obj_t b, bool pointers) { return a == b || (!pointers && mp_obj_equal(a, b)); }

static mp_map_elem_t *lookup_small(mp_map_t *map, mp_obj_t key, mp_map_lookup_kind_t kind, bool pointers) {
  mp_map_elem_t *top = map->table + map->used;
  for (mp_map_elem_t *e = map->table; e < top; e++) {
    if (!same(e->key, key, pointers)) continue;
    if (kind != MP_MAP_LOOKUP_REMOVE_IF_FOUND) return e;
    mp_obj_t value = e->value;
    memmove(e, e + 1, (char *)top - (char *)(e + 1));
    map->used--;
    top[-1].key = MP_OBJ_NULL, top[-1].value = value; // for the caller
    return top - 1;
  }
  if (kind != MP_MAP_LOOKUP_ADD_IF_NOT_FOUND) return NULL;
  if (map->used == map->alloc) {
    grown(map);
    if (map->alloc > SMALL) return mp_map_lookup(map, key, kind);
  }
  return added(map, map->table + map->used, key);
}

static mp_map_elem_t *lookup_large(mp_map_t *map, mp_obj_t key, mp_map_lookup_kind_t kind, bool pointers) {
  map_index *x = settled(map);
  uint32_t width = width_of(map->alloc), at = slot_of(key, width);
  for (; x->slots[at]; at = (at + 1) & ((1u << width) - 1)) {
    mp_map_elem_t *e = &map->table[x->slots[at] - 1];
    if (!filled(e) || !same(e->key, key, pointers)) continue;
    if (kind == MP_MAP_LOOKUP_REMOVE_IF_FOUND) e->key = MP_OBJ_SENTINEL, map->used--;
    return e;
  }
  if (kind != MP_MAP_LOOKUP_ADD_IF_NOT_FOUND) return NULL;
  if (x->end == map->alloc) {
    grown(map);
    return mp_map_lookup(map, key, kind);
  }
  x->indexed = 1;
  x->slots[at] = x->end + 1;
  return added(map, &map->table[x->end++], key);
}

mp_map_elem_t *mp_map_lookup(mp_map_t *map, mp_obj_t key, mp_map_lookup_kind_t kind) {
  if (map->is_fixed || !map->is_ordered) return mp_map_lookup_hashed(map, key, kind);
  bool pointers = map->all_keys_are_qstrs && mp_obj_is_qstr(key);
  if (!mp_obj_is_str(key) && !mp_obj_is_small_int(key)) mp_unary_op(MP_UNARY_OP_HASH, key); // an error for what has no hash
  if (map->all_keys_are_qstrs && !pointers && !mp_obj_is_exact_type(key, &mp_type_str) && kind != MP_MAP_LOOKUP_ADD_IF_NOT_FOUND) return NULL;
  if (map->alloc <= SMALL) return lookup_small(map, key, kind, pointers);
  return lookup_large(map, key, kind, pointers);
}

// alcove_map_last is the number of the last entry of a map that is not empty: where popitem begins.
size_t alcove_map_last(mp_map_t *map) {
  size_t i = map->alloc > SMALL && !map->is_fixed ? settled(map)->end : map->used;
  while (i && !filled(&map->table[i - 1])) i--;
  return i - 1;
}
