package compare

import (
	"strconv"
	"strings"
)

// measures is what is known of numbers that are written in words, of units, months and currencies. It is not changed once it is made.
type measures struct {
	numbers    map[string]float64
	ordinals   map[string]int
	fractions  map[string]string
	scales     map[string]float64 // of words behind a number
	attached   map[string]float64 // of letters behind a number
	units      map[string]unit
	months     map[string]string // two digits
	monthly    map[string]bool   // words in front of a month
	currencies map[string]string // by sign
	spellings  map[string]string
	first      map[string]bool // what begins one of these, but for digits
}

// unit is what a number counts: a dimension, and how many of its smallest units it is.
type unit struct {
	dimension string
	scale     float64
}

// is writes an amount of the unit.
func (u unit) is(v float64) string {
	return strconv.FormatFloat(v*u.scale, 'g', 10, 64) + u.dimension
}

func newMeasures() *measures {
	m := &measures{
		numbers: map[string]float64{}, ordinals: map[string]int{}, fractions: wordsTo(fractionWords), scales: map[string]float64{}, units: map[string]unit{},
		months: map[string]string{}, monthly: map[string]bool{}, currencies: wordsTo(currencySigns), spellings: wordsTo(spellingWords),
		attached: map[string]float64{"k": 1e3, "bn": 1e9}, first: map[string]bool{},
	}
	for i, w := range strings.Fields(numberWords) {
		m.numbers[w] = float64(i)
	}
	for i, w := range strings.Fields(tenWords) {
		m.numbers[w] = float64(10*i + 20)
	}
	for i, w := range strings.Fields(ordinalWords) {
		m.ordinals[w] = i + 1
	}
	for i, w := range strings.Fields(monthNames) {
		m.months[w], m.months[w[:3]] = twoDigits(i+1), twoDigits(i+1)
	}
	m.months["sept"] = "09"
	for _, w := range strings.Fields("in of since until till last next by from this every early late mid") {
		m.monthly[w] = true
	}
	for w, scale := range wordsTo(scaleWords) {
		m.scales[w], _ = strconv.ParseFloat(scale, 64)
	}
	for line := range strings.SplitSeq(unitWords, "\n") {
		fields := strings.Fields(line)
		scale, _ := strconv.ParseFloat(fields[1], 64)
		for _, w := range fields[2:] {
			m.units[w] = unit{strings.TrimSuffix(fields[0], "-"), scale}
		}
	}
	m.begin()
	return m
}

// begin notes the words that begin a number, a date or a time.
func (m *measures) begin() {
	for w := range m.numbers {
		m.first[w] = true
	}
	for w := range m.ordinals {
		m.first[w] = true
	}
	for w := range m.months {
		m.first[w] = true
	}
	for _, w := range []string{"a", "an", "half", "noon", "midnight", "twice"} {
		m.first[w] = true
	}
}

// wordsTo reads a list of words, each followed by what it stands for.
func wordsTo(list string) map[string]string {
	fields := strings.Fields(list)
	m := make(map[string]string, len(fields)/2)
	for i := 0; i+1 < len(fields); i += 2 {
		m[fields[i]] = fields[i+1]
	}
	return m
}

func twoDigits(v int) string {
	if v < 10 {
		return "0" + strconv.Itoa(v)
	}
	return strconv.Itoa(v)
}

const (
	numberWords   = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
	tenWords      = "twenty thirty forty fifty sixty seventy eighty ninety"
	ordinalWords  = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
	monthNames    = "january february march april may june july august september october november december"
	fractionWords = "quarters 4 thirds 3 fifths 5 eighths 8 sixteenths 16 tenths 10"
	scaleWords    = "hundred 100 thousand 1000 million 1000000 billion 1000000000 grand 1000"
	currencySigns = "€ eur $ usd £ gbp ¥ jpy"
)

// A line is a dimension, how many of its smallest unit a unit is, and how that is written. - stands for no more than it says.
const unitWords = `s .001 ms msec millisecond milliseconds millis
s 1 s sec secs second seconds
s 60 min mins minute minutes
s 3600 h hr hrs hour hours
s 86400 day days
s 604800 week weeks wk wks
s 1209600 fortnight
mo 1 month months
mo 12 year years yr yrs
mo 120 decade decades
B 1 byte bytes
B 1e3 kb kilobyte kilobytes
B 1e6 mb megabyte megabytes megs
B 1e9 gb gigabyte gigabytes gigs
B 1e12 tb terabyte terabytes
B 1024 kib kibibytes
B 1048576 mib mebibytes
B 1073741824 gib gibibytes
B 1099511627776 tib tebibytes
g .001 mg milligram milligrams
g 1 g gram grams gramme grammes
g 1000 kg kilo kilos kilogram kilograms
lb 1 lb lbs pounds-weight
mm 1 mm millimetre millimetres millimeter millimeters
mm 10 cm centimetre centimetres centimeter centimeters
mm 1000 m metre metres meter meters
mm 1e6 km kilometre kilometres kilometer kilometers
in 1 inch inches
mi 1 mile miles
ml 1 ml millilitre millilitres
ml 1000 l litre litres liter liters
% 1 percent pct
°C 1 °c degrees degree celsius
eur 1 eur euro euros
usd 1 usd dollar dollars bucks
gbp 1 gbp quid
chf 1 chf franc francs
x 1 times
W 1 watt watts
W 1000 kw kilowatt kilowatts
Wh 1000 kwh`

// Spellings of a word of which both are usual, and abbreviations.
const spellingWords = `colour color colours colors favourite favorite favour favor behaviour behavior neighbour neighbor neighbours neighbors centre center
centres centers licence license licences licenses defence defense tyre tire tyres tires grey gray catalogue catalog dialogue dialog programme program
lasagne lasagna cheque check mould mold jewellery jewelry plough plow aluminium aluminum storey floor honour honor labour labor rumour rumor harbour harbor
travelling traveling cancelled canceled cancelling canceling labelled labeled modelling modeling fulfil fulfill metre meter metres meters litre liter theatre
theater req requests reqs requests approx approximately max maximum min minimum info information repo repository docs documentation config configuration env
environment mon monday tue tuesday tues tuesday wed wednesday thu thursday thur thursday thurs thursday fri friday sat saturday sun sunday mondays monday
tuesdays tuesday wednesdays wednesday thursdays thursday fridays friday saturdays saturday sundays sunday daily-basis daily cert certificate certs certificates
tls ssl mum mother mom mother mam mother mummy mother dad father grandpa grandfather grandma grandmother kids children kid child flat apartment flats apartments
lift elevator vat-id vat hols holidays fridge refrigerator aeroplane airplane maths math e.g eg i.e ie`
