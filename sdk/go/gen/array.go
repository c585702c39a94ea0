package gen

import (
	"fmt"
	"go/types"
	"strconv"
)

// arraySettings are the keys of an array: its default has a name and a value for each element, in their order. A hook that
// reads the configuration at every search builds no map.
func (f *family) arraySettings(x field, key string, array *types.Array) ([]setting, error) {
	list, err := f.mapSettings(x, key, array.Elem())
	if err != nil {
		return nil, err
	}
	if int64(len(list)) != array.Len() {
		return nil, fmt.Errorf("an array of %d has a default with %d names", array.Len(), len(list))
	}
	for i := range list {
		list[i].index = strconv.Itoa(i)
	}
	return list, nil
}
