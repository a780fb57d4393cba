# a record file in no version is one alert, also when another version of its model came in between
new_world
give() {
    give_model m <<END
{"model":"m","version":$1,"reads":[$2],"root":"d","versionAt":"/v","entities":{"N":{"files":"n/*","id":"stem","fields":{"t":{"type":"string"}}}}}
END
}
give 1 1
up alpha
up beta
pair
mkdir -p "$alpha/d/n"
echo '{"v":1,"t":"a"}' >"$alpha/d/n/1"
settle
echo '{"v":"x","t":"a"}' >"$alpha/d/n/2"
soon "nobody is told of the file" warns_of alpha format.unknown
tells alpha '"found":"\"x\"","supported":[1,1]' alerts || fail "nor what was found: $(cat "$world/told")"
down alpha
down beta
give 2 1,2
up alpha
up beta
told_once() { [ "$(ctl alpha --json alerts | grep -o '"code":"format.unknown"' | wc -l)" -eq 1 ]; }
soon "the file is not told of by the model of now" tells alpha '"supported":[1,2]' alerts
soon "the file is told of by the model of before as well" told_once
